package io.easykit.benchmarks;

import io.easykit.benchmarks.contender.RedisContender;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A {@link HitLoad} seen from the outside, with a Redis of its own. */
final class HitLoadProcess implements AutoCloseable {

    private final RedisContender contender;
    private final RedisServer redis = RedisServer.start();
    private final RawRedis info = redis.connect();
    private final Process process;
    private final BufferedReader answers;
    private final BufferedWriter orders;

    HitLoadProcess(RedisContender contender) throws IOException {
        this.contender = contender;
        this.process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xms256m",
                        "-Xmx256m",
                        "-Dlogging.level.root=warn",
                        "-cp",
                        System.getProperty("java.class.path"),
                        HitLoad.class.getName(),
                        contender.name(),
                        redis.host(),
                        String.valueOf(redis.port()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        this.answers = process.inputReader(StandardCharsets.UTF_8);
        this.orders = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        while (!HitLoad.READY.equals(answer())) {
            // What a framework prints while it starts is of no interest.
        }
    }

    RedisContender contender() {
        return contender;
    }

    /** Reads for a time, and looks at what that cost Redis. */
    Run read(int threads, long millis) throws IOException {
        RedisCost before = RedisCost.of(info);
        orders.write(threads + " " + millis + "\n");
        orders.flush();
        long[] figures =
                Stream.of(answer().split(" ", -1)).mapToLong(Long::parseLong).toArray();
        return new Run(
                figures[0],
                figures[1],
                figures[2],
                figures[3],
                RedisCost.of(info).since(before));
    }

    /** Lets it end by itself, so that it can say what was wrong. */
    @Override
    public void close() throws IOException {
        orders.close();
        int code = process.onExit().orTimeout(30, TimeUnit.SECONDS).join().exitValue();
        if (code != 0) {
            throw new IllegalStateException(contender + " ended with " + code);
        }
        info.close();
        redis.close();
    }

    private String answer() throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw new IllegalStateException(contender + " ended; its error is above");
        }
        return line;
    }

    /**
     * What a run did.
     *
     * @param cpuNanos of the whole process, on all cores
     * @param loads reads that were no hits, because a command timed out
     */
    record Run(long reads, long nanos, long cpuNanos, long loads, RedisCost redis) {

        double perSecond() {
            return reads * 1e9 / nanos;
        }

        double clientMicros() {
            return cpuNanos / 1e3 / reads;
        }

        double redisMicros() {
            return (double) redis.cpuMicros() / reads;
        }
    }
}
