package io.easykit.benchmarks.cache;

import io.easykit.benchmarks.cache.contender.LocalContender;
import io.easykit.benchmarks.measure.Machine;
import io.easykit.benchmarks.measure.Spread;
import io.easykit.benchmarks.measure.Table;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * C2: hits at the local level, with JMH. In each of five rounds every contender gets a separate fork, so that noise of
 * the machine affects all of them.
 *
 * <p>The cost of an annotation itself (lookup, key, dispatch) is the CPU time of the annotated method over a store
 * that replies at once, less the time of the bare method.
 */
public final class LocalHits {

    private static final int ROUNDS = 5;

    private LocalHits() {}

    /** Takes the milliseconds of an iteration as argument (default 1000). */
    public static void run(String[] arguments) throws RunnerException {
        long millis = arguments.length > 0 ? Long.parseLong(arguments[0]) : 1_000;
        System.out.println("C2, " + Machine.describe() + ", JMH, 1 thread, " + ROUNDS + " forks each\n");
        Map<LocalContender, List<RunResult>> results = new EnumMap<>(LocalContender.class);
        for (int round = 0; round < ROUNDS; round++) {
            for (RunResult result : round(millis, List.of(LocalContender.values()))) {
                results.computeIfAbsent(contenderOf(result), some -> new ArrayList<>())
                        .add(result);
            }
        }
        print(results);
    }

    /** Runs a fork of each contender, with iterations of the given milliseconds. */
    static Collection<RunResult> round(long millis, List<LocalContender> contenders) throws RunnerException {
        TimeValue time = TimeValue.milliseconds(millis);
        Options options = new OptionsBuilder()
                .include(LocalHitBenchmark.class.getName())
                .param("which", contenders.stream().map(Enum::name).toArray(String[]::new))
                .forks(1)
                .warmupTime(time)
                .measurementTime(time)
                .jvmArgs("-Xms512m", "-Xmx512m")
                .addProfiler(GCProfiler.class)
                .verbosity(VerboseMode.SILENT)
                .shouldFailOnError(true)
                .build();
        return new Runner(options).run();
    }

    static LocalContender contenderOf(RunResult result) {
        return LocalContender.valueOf(result.getParams().getParam("which"));
    }

    private static void print(Map<LocalContender, List<RunResult>> results) {
        double method = Spread.of(results.getOrDefault(LocalContender.METHOD, List.of()), LocalHits::cpuNanos)
                .median();
        Table.header("contender", "settings", "ns a hit", "CPU ns a hit", "less the method", "bytes allocated a hit");
        results.forEach((which, own) -> {
            Spread cpu = Spread.of(own, LocalHits::cpuNanos);
            Table.row(
                    which.title(),
                    which.settings(),
                    Spread.of(own, LocalHits::nanos).text(0),
                    cpu.text(0),
                    Math.round(cpu.median() - method),
                    Math.round(Spread.of(own, LocalHits::bytes).median()));
        });
    }

    private static double nanos(RunResult result) {
        return result.getPrimaryResult().getScore();
    }

    static double cpuNanos(RunResult result) {
        return secondary(result, "cpuNanos") / secondary(result, "hits");
    }

    static double bytes(RunResult result) {
        return secondary(result, "gc.alloc.rate.norm");
    }

    private static double secondary(RunResult result, String name) {
        Result<?> figure = result.getSecondaryResults().get(name);
        if (figure == null) {
            throw new IllegalStateException("JMH gave no " + name);
        }
        return figure.getScore();
    }
}
