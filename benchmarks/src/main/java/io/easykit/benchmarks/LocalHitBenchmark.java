package io.easykit.benchmarks;

import io.easykit.benchmarks.contender.Contender;
import io.easykit.benchmarks.contender.LocalContender;
import io.easykit.benchmarks.contender.Product;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** One hit at the local level, by one thread, over 1,024 keys in turn. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 3, time = 1)
public class LocalHitBenchmark {

    private static final int KEYS = 1_024;

    @Param
    public LocalContender which = LocalContender.METHOD;

    private Contender contender = which.open();
    private long next;

    @Setup
    public void open() {
        contender = which.open();
        for (long id = 0; id < KEYS; id++) {
            contender.product(id);
        }
    }

    @Benchmark
    public Product hit() {
        next = next + 1 & KEYS - 1;
        return contender.product(next);
    }

    @TearDown
    public void close() {
        contender.close();
    }
}
