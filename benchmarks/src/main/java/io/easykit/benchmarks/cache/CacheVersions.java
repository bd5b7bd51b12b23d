package io.easykit.benchmarks.cache;

import io.easykit.benchmarks.cache.HitLoadProcess.Run;
import io.easykit.benchmarks.cache.contender.LocalContender;
import io.easykit.benchmarks.cache.contender.RedisContender;
import io.easykit.benchmarks.measure.Comparison;
import io.easykit.benchmarks.measure.RedisCost;
import io.easykit.benchmarks.measure.Version;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.RunnerException;

/** C1 and C2 of two versions of easy-cache, side by side. */
public final class CacheVersions {

    private static final List<Integer> THREADS = List.of(1, 16, 64);
    private static final long RUN_MILLIS = 2_000;
    private static final long WARM_UP_MILLIS = 5_000;
    private static final long ITERATION_MILLIS = 400;
    private static final String CLASS_PATH = "java.class.path";

    private CacheVersions() {}

    public static void run(List<Version> versions) throws RunnerException {
        Comparison comparison = new Comparison(versions);
        comparison.header();
        redisHits(versions, comparison);
        localHits(comparison);
    }

    private static void redisHits(List<Version> versions, Comparison comparison) {
        Map<Version, HitLoadProcess> processes = new LinkedHashMap<>();
        try {
            for (Version version : versions) {
                processes.put(version, new HitLoadProcess(RedisContender.EASY_CACHE, version.classPath()));
            }
            processes.values().forEach(process -> process.read(64, WARM_UP_MILLIS));
            for (int round = 0; round < Comparison.rounds(); round++) {
                for (Version version : comparison.order(round)) {
                    THREADS.forEach(threads -> add(
                            comparison,
                            version,
                            threads,
                            Objects.requireNonNull(processes.get(version)).read(threads, RUN_MILLIS)));
                }
            }
            comparison.print();
        } finally {
            processes.values().forEach(HitLoadProcess::close);
        }
    }

    private static void add(Comparison comparison, Version version, int threads, Run run) {
        String name = "c1, " + threads + (threads == 1 ? " thread" : " threads");
        comparison.add(name + ": " + RedisCost.heading() + " a hit", version, run.redisCpu());
        comparison.add(name + ": client CPU µs a hit", version, run.clientMicros());
        comparison.add(name + ": hits/s", version, run.perSecond());
    }

    private static void localHits(Comparison comparison) throws RunnerException {
        List<LocalContender> which =
                List.of(LocalContender.METHOD, LocalContender.EASY_CACHE, LocalContender.EASY_CACHE_ANNOTATION);
        for (int round = 0; round < Comparison.rounds(); round++) {
            for (Version version : comparison.order(round)) {
                for (RunResult result : forkWith(version, which)) {
                    String name = "c2, " + LocalHits.contenderOf(result).title();
                    comparison.add(name + ": CPU ns a hit", version, LocalHits.cpuNanos(result));
                    comparison.add(name + ": bytes a hit", version, LocalHits.bytes(result));
                }
            }
        }
        comparison.print();
    }

    /** JMH starts its forks with the class path of this program. */
    private static Iterable<RunResult> forkWith(Version version, List<LocalContender> which) throws RunnerException {
        String own = System.getProperty(CLASS_PATH);
        System.setProperty(CLASS_PATH, version.classPath());
        try {
            return LocalHits.round(ITERATION_MILLIS, which);
        } finally {
            System.setProperty(CLASS_PATH, own);
        }
    }
}
