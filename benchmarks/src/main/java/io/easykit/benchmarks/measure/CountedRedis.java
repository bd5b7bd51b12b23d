package io.easykit.benchmarks.measure;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * Runs each Redis under Valgrind, which counts the instructions of its main thread. Such a count does not depend on the
 * speed of the machine or on other programs. It leaves out the kernel, and so the cost of a round trip. Redis is several
 * times slower, so times and rates say nothing.
 */
public final class CountedRedis {

    private static final String TOTAL_OF_MAIN_THREAD = "events-1: ";
    private static boolean used;

    private CountedRedis() {}

    /**
     * Counts from now on, in every Redis that this program starts.
     *
     * @throws IllegalStateException if Valgrind is not installed
     */
    public static void use() {
        try {
            output("valgrind", "--version");
            output("vgdb", "--help");
        } catch (UncheckedIOException missing) {
            throw new IllegalStateException("Install Valgrind: " + missing.getMessage(), missing);
        }
        System.setProperty(
                RedisServer.UNDER, "valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file=/dev/null");
        used = true;
    }

    public static boolean isUsed() {
        return used;
    }

    /** Returns the instructions of the main thread since the server started. */
    static long instructions(RawRedis redis) {
        String process = redis.info("server").get("process_id");
        String status = output("vgdb", "--pid=" + process, "status", "internal");
        return status.lines()
                .filter(line -> line.startsWith(TOTAL_OF_MAIN_THREAD))
                .findFirst()
                .map(line -> Long.parseLong(
                        line.substring(TOTAL_OF_MAIN_THREAD.length()).strip()))
                .orElseThrow(() -> new IllegalStateException("Process " + process
                        + " does not run under Valgrind. Install Valgrind, and set EASYKIT_TEST_REDIS to embedded or path. "
                        + status));
    }

    private static String output(String... command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot run " + command[0] + ", which is part of Valgrind", e);
        }
    }
}
