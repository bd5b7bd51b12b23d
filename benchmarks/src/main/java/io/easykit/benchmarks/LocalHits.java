package io.easykit.benchmarks;

import io.easykit.benchmarks.contender.LocalContender;
import java.util.ArrayList;
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
 * C2: hits at the local level, with JMH. In each of five rounds every contender has a fork of its own, so that a noisy
 * moment of the machine meets all of them.
 *
 * <p>What an annotation itself costs (look-up, key, dispatch) is the time of the annotated method over a store that
 * answers at once, less the time of the bare method.
 */
final class LocalHits {

    private static final int ROUNDS = 5;

    private LocalHits() {}

    /**
     * @param arguments milliseconds of an iteration (1000 without any)
     */
    static void run(String[] arguments) throws RunnerException {
        TimeValue time = TimeValue.milliseconds(arguments.length > 0 ? Long.parseLong(arguments[0]) : 1_000);
        Options options = new OptionsBuilder()
                .include(LocalHitBenchmark.class.getName())
                .forks(1)
                .warmupTime(time)
                .measurementTime(time)
                .jvmArgs("-Xms512m", "-Xmx512m")
                .addProfiler(GCProfiler.class)
                .verbosity(VerboseMode.SILENT)
                .shouldFailOnError(true)
                .build();
        System.out.println("C2, " + Machine.describe() + ", JMH, 1 thread, " + ROUNDS + " forks each\n");
        Map<LocalContender, List<Double>> nanos = new EnumMap<>(LocalContender.class);
        Map<LocalContender, List<Double>> bytes = new EnumMap<>(LocalContender.class);
        for (int round = 0; round < ROUNDS; round++) {
            for (RunResult result : new Runner(options).run()) {
                LocalContender which = LocalContender.valueOf(result.getParams().getParam("which"));
                add(nanos, which, result.getPrimaryResult().getScore());
                add(bytes, which, allocated(result));
            }
        }
        print(nanos, bytes);
    }

    private static void print(Map<LocalContender, List<Double>> nanos, Map<LocalContender, List<Double>> bytes) {
        double method =
                Spread.of(nanos.getOrDefault(LocalContender.METHOD, List.of())).median();
        Table.header("contender", "settings", "ns a hit", "less the method", "bytes allocated a hit");
        nanos.forEach((which, own) -> {
            Spread spread = Spread.of(own);
            Table.row(
                    which.title(),
                    which.settings(),
                    spread.text(0),
                    Math.round(spread.median() - method),
                    Math.round(Spread.of(bytes.getOrDefault(which, List.of())).median()));
        });
    }

    private static double allocated(RunResult result) {
        Result<?> bytes = result.getSecondaryResults().get("gc.alloc.rate.norm");
        if (bytes == null) {
            throw new IllegalStateException("JMH's profiler counted no bytes");
        }
        return bytes.getScore();
    }

    private static void add(Map<LocalContender, List<Double>> figures, LocalContender which, double figure) {
        figures.computeIfAbsent(which, some -> new ArrayList<>()).add(figure);
    }
}
