package io.easykit.benchmarks.cache;

import io.easykit.benchmarks.cache.contender.Contender;
import io.easykit.benchmarks.cache.contender.LocalContender;
import io.easykit.benchmarks.cache.contender.Product;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One hit at the local level, by one thread, over 1,024 keys in turn.
 *
 * <p>The warm-up is long because on a busy machine compilation is late: after three seconds Spring's interceptor still
 * cost four times its compiled cost.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 12, time = 1)
@Measurement(iterations = 3, time = 1)
public class LocalHitBenchmark {

    private static final int KEYS = 1_024;

    @Param
    public LocalContender which = LocalContender.METHOD;

    private Contender contender = which.open();

    @Setup
    public void open() {
        contender = which.open();
        for (long id = 0; id < KEYS; id++) {
            contender.product(id);
        }
    }

    @Benchmark
    public Product hit(Thrift thrift) {
        return contender.product(thrift.hits++ & KEYS - 1);
    }

    @TearDown
    public void close() {
        contender.close();
    }

    /** CPU time, which does not grow with the number of other busy programs. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.EVENTS)
    public static class Thrift {

        private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

        private long begin;

        public long hits;
        public long cpuNanos;

        @Setup(Level.Iteration)
        public void start() {
            begin = threads.getCurrentThreadCpuTime();
        }

        @TearDown(Level.Iteration)
        public void stop() {
            cpuNanos = threads.getCurrentThreadCpuTime() - begin;
        }
    }
}
