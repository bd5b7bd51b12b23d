package io.easykit.benchmarks.cache;

import io.easykit.benchmarks.cache.contender.RedisContender;
import io.easykit.benchmarks.measure.ChildProgram;
import io.easykit.benchmarks.measure.RedisCost;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.util.List;
import java.util.stream.Stream;

/** A {@link HitLoad} process with its own Redis. */
final class HitLoadProcess implements AutoCloseable {

    private final RedisContender contender;
    private final RedisServer redis = RedisServer.start();
    private final RawRedis info = redis.connect();
    private final ChildProgram program;

    HitLoadProcess(RedisContender contender) {
        this(contender, System.getProperty("java.class.path"));
    }

    /** Starts a process of another version of the product. */
    HitLoadProcess(RedisContender contender, String classPath) {
        this.contender = contender;
        this.program = ChildProgram.start(
                contender.title(),
                HitLoad.READY,
                "256m",
                classPath,
                HitLoad.class.getName(),
                List.of(contender.name(), redis.host(), String.valueOf(redis.port())));
    }

    RedisContender contender() {
        return contender;
    }

    /** Reads for some time, and measures the cost in Redis. */
    Run read(int threads, long millis) {
        return run(threads + " " + millis);
    }

    /** Reads a few keys at a steady rate. */
    Run readHot(int threads, long millis, int keys, int perSecond) {
        return run(threads + " " + millis + " " + keys + " " + perSecond);
    }

    private Run run(String order) {
        RedisCost before = RedisCost.of(info);
        long[] figures = Stream.of(program.ask(order).split(" ", -1))
                .mapToLong(Long::parseLong)
                .toArray();
        return new Run(
                figures[0],
                figures[1],
                figures[2],
                figures[3],
                RedisCost.of(info).since(before));
    }

    @Override
    public void close() {
        program.close();
        info.close();
        redis.close();
    }

    /**
     * The results of a run.
     *
     * @param cpuNanos CPU time of the whole process, on all cores
     * @param loads reads without a hit, because a command timed out
     */
    record Run(long reads, long nanos, long cpuNanos, long loads, RedisCost redis) {

        double perSecond() {
            return reads * 1e9 / nanos;
        }

        double clientMicros() {
            return cpuNanos / 1e3 / reads;
        }

        double redisCpu() {
            return redis.cpu() / reads;
        }
    }
}
