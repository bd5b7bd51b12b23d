package io.easykit.test;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;
import redis.embedded.core.ExecutableProvider;

/** Chooses, once for each JVM, how Redis is run. */
enum RedisBackends {
    DOCKER {
        @Override
        RedisBackend open(String searchPath) throws Unusable {
            CompletableFuture<Optional<ContainerBackend>> opening =
                    CompletableFuture.supplyAsync(RedisBackends::container);
            try {
                return opening.get(DOCKER_WITHIN.toSeconds(), SECONDS)
                        .orElseThrow(() -> new Unusable("no Docker engine replies"));
            } catch (ExecutionException e) {
                throw new Unusable("the engine does not run the image: " + rootMessage(e));
            } catch (TimeoutException e) {
                throw new Unusable("the engine has no image after " + DOCKER_WITHIN + "; pull it beforehand");
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new Unusable("interrupted");
            }
        }
    },
    PATH {
        @Override
        RedisBackend open(String searchPath) throws Unusable {
            Path program = PROGRAMS.stream()
                    .flatMap(name -> Arrays.stream(searchPath.split(File.pathSeparator, -1))
                            .map(directory -> Path.of(directory, name)))
                    .filter(Files::isExecutable)
                    .findFirst()
                    .orElseThrow(() -> new Unusable("no redis-server or valkey-server on the PATH"));
            return tried(program);
        }
    },
    EMBEDDED {
        @Override
        RedisBackend open(String searchPath) throws Unusable {
            try {
                return tried(ExecutableProvider.newJarResourceProvider().get().toPath());
            } catch (IOException | RuntimeException e) {
                throw new Unusable("the embedded binary cannot be unpacked: " + e.getMessage());
            }
        }
    };

    private static final Logger log = LoggerFactory.getLogger(RedisBackends.class);
    private static final List<String> PROGRAMS = List.of("redis-server", "valkey-server");
    private static final Duration DOCKER_WITHIN = Duration.ofSeconds(30);
    private static final Pattern VERSION = Pattern.compile("v=(\\d+)\\.(\\d+)");

    abstract RedisBackend open(String searchPath) throws Unusable;

    /** Returns the backend of this JVM. */
    static RedisBackend current() {
        return Current.BACKEND;
    }

    /** Returns a backend whose servers can read files of this machine, such as certificates. */
    static RedisBackend ofProcesses() {
        return CurrentOfProcesses.BACKEND;
    }

    /**
     * Opens the first backend that works.
     *
     * @param forced name of the only one to try, path of a server program, or null
     * @param searchPath directories to search for programs, in the format of {@code PATH}
     * @throws IllegalStateException if none works; the message contains the reasons and remedies
     */
    static RedisBackend choose(@Nullable String forced, String searchPath) {
        if (forced != null && forced.contains("/")) {
            return named(Path.of(forced));
        }
        return first(candidates(forced), searchPath);
    }

    private static RedisBackend named(Path program) {
        try {
            RedisBackend backend = tried(program);
            log.info("Redis for tests: {}", program);
            return backend;
        } catch (Unusable e) {
            throw new IllegalStateException(
                    "easykit.test.redis (or EASYKIT_TEST_REDIS) is not a usable server: " + e.getMessage(), e);
        }
    }

    private static RedisBackend first(List<RedisBackends> candidates, String searchPath) {
        StringBuilder reasons = new StringBuilder();
        for (RedisBackends candidate : candidates) {
            try {
                RedisBackend backend = candidate.open(searchPath);
                log.info("Redis for tests: {}", candidate.word());
                return backend;
            } catch (Unusable e) {
                reasons.append(System.lineSeparator()).append("  ").append(candidate.word());
                reasons.append(": ").append(e.getMessage());
            }
        }
        throw new IllegalStateException("No Redis for the tests." + reasons + System.lineSeparator()
                + "One of these helps: install redis-server 6.2 or later; start Docker;"
                + " run on Linux (x86-64 or arm64) with glibc and OpenSSL 3, or on macOS, where the"
                + " embedded binary runs.");
    }

    private static List<RedisBackends> candidates(@Nullable String forced) {
        if (forced == null) {
            return List.of(values());
        }
        return Arrays.stream(values())
                .filter(backend -> backend.word().equals(forced))
                .findFirst()
                .map(List::of)
                .orElseThrow(() -> new IllegalArgumentException("easykit.test.redis (or EASYKIT_TEST_REDIS) is \""
                        + forced + "\". Use docker, path, embedded, or the path of a server program."));
    }

    private String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns null if neither is set. An empty value counts as not set, because scripts clear variables this way. */
    static @Nullable String setting(@Nullable String property, @Nullable String variable) {
        return property != null && !property.isBlank()
                ? property
                : variable != null && !variable.isBlank() ? variable : null;
    }

    private static String rootMessage(Throwable e) {
        Throwable root = e;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return String.valueOf(root.getMessage());
    }

    /**
     * Returns empty without a Docker engine. If no registry can be reached, Testcontainers keeps trying for minutes.
     */
    private static Optional<ContainerBackend> container() {
        if (!DockerTraces.ofThisMachine().any()
                || !DockerClientFactory.instance().isDockerAvailable()) {
            return Optional.empty();
        }
        String image =
                setting(System.getProperty("easykit.test.redis.image"), System.getenv("EASYKIT_TEST_REDIS_IMAGE"));
        return Optional.of(ContainerBackend.open(image == null ? "redis:7.4-alpine" : image));
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
            process.waitFor(10, SECONDS);
            return output;
        } catch (IOException e) {
            throw new Unusable(program + " does not run here: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Unusable("interrupted");
        }
    }

    /** The reason why a backend cannot be used on this machine. */
    static final class Unusable extends Exception {
        Unusable(String reason) {
            super(reason);
        }
    }

    private static final class Current {
        static final RedisBackend BACKEND = choose(
                setting(System.getProperty("easykit.test.redis"), System.getenv("EASYKIT_TEST_REDIS")),
                System.getenv().getOrDefault("PATH", ""));
    }

    private static final class CurrentOfProcesses {
        static final RedisBackend BACKEND = current() instanceof ProcessBackend processes
                ? processes
                : first(List.of(PATH, EMBEDDED), System.getenv().getOrDefault("PATH", ""));
    }
}
