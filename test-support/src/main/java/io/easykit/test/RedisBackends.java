package io.easykit.test;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.embedded.core.ExecutableProvider;

/** Chooses, once for the JVM, how Redis is run. */
enum RedisBackends {
    DOCKER {
        @Override
        RedisBackend open() throws Unusable {
            throw new Unusable("no Docker engine answers");
        }
    },
    PATH {
        @Override
        RedisBackend open() throws Unusable {
            Path program = Arrays.stream(
                            System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                    .map(directory -> Path.of(directory, "redis-server"))
                    .filter(Files::isExecutable)
                    .findFirst()
                    .orElseThrow(() -> new Unusable("no redis-server on the PATH"));
            return tried(program);
        }
    },
    EMBEDDED {
        @Override
        RedisBackend open() throws Unusable {
            try {
                return tried(ExecutableProvider.newJarResourceProvider().get().toPath());
            } catch (IOException | RuntimeException e) {
                throw new Unusable("the embedded binary cannot be unpacked: " + e.getMessage());
            }
        }
    };

    private static final Logger log = LoggerFactory.getLogger(RedisBackends.class);
    private static final Pattern VERSION = Pattern.compile("v=(\\d+)\\.(\\d+)");

    abstract RedisBackend open() throws Unusable;

    /** The backend of this JVM. */
    static RedisBackend current() {
        return Current.BACKEND;
    }

    /**
     * Opens the first backend that works.
     *
     * @param forced name of the only one to try, or null
     * @throws IllegalStateException where none works; it says why, and what helps
     */
    static RedisBackend choose(@Nullable String forced) {
        StringBuilder reasons = new StringBuilder();
        for (RedisBackends candidate : candidates(forced)) {
            try {
                RedisBackend backend = candidate.open();
                log.info("Redis for tests: {}", candidate.setting());
                return backend;
            } catch (Unusable e) {
                reasons.append(System.lineSeparator()).append("  ").append(candidate.setting());
                reasons.append(": ").append(e.getMessage());
            }
        }
        throw new IllegalStateException(
                "No Redis for the tests." + reasons + System.lineSeparator()
                        + "One of these helps: install redis-server 6.2 or later; start Docker;"
                        + " run on Linux (x86-64 or arm64) with glibc and OpenSSL 3, or on macOS, where the embedded binary runs.");
    }

    private static List<RedisBackends> candidates(@Nullable String forced) {
        if (forced == null) {
            return List.of(values());
        }
        return Arrays.stream(values())
                .filter(backend -> backend.setting().equals(forced))
                .findFirst()
                .map(List::of)
                .orElseThrow(() -> new IllegalArgumentException("easykit.test.redis (or EASYKIT_TEST_REDIS) is \""
                        + forced + "\"; it knows docker, path and embedded"));
    }

    private String setting() {
        return name().toLowerCase(Locale.ROOT);
    }

    private static RedisBackend tried(Path program) throws Unusable {
        String output = versionOf(program);
        Matcher version = VERSION.matcher(output);
        if (!version.find()) {
            throw new Unusable(program + " does not run here: " + output.strip());
        }
        int major = Integer.parseInt(version.group(1));
        int minor = Integer.parseInt(version.group(2));
        if (major < 6 || (major == 6 && minor < 2)) {
            throw new Unusable(program + " is Redis " + major + "." + minor + ", older than 6.2");
        }
        return new ProcessBackend(program);
    }

    private static String versionOf(Path program) throws Unusable {
        try {
            Process process = new ProcessBuilder(program.toString(), "--version")
                    .redirectErrorStream(true)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), UTF_8);
            process.waitFor(10, TimeUnit.SECONDS);
            return output;
        } catch (IOException e) {
            throw new Unusable(program + " does not run here: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Unusable("interrupted");
        }
    }

    /** Why a backend cannot be used on this machine. */
    static final class Unusable extends Exception {
        Unusable(String reason) {
            super(reason);
        }
    }

    private static final class Current {
        static final RedisBackend BACKEND =
                choose(System.getProperty("easykit.test.redis", System.getenv("EASYKIT_TEST_REDIS")));
    }
}
