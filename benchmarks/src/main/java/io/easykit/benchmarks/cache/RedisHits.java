package io.easykit.benchmarks.cache;

import io.easykit.benchmarks.cache.HitLoadProcess.Run;
import io.easykit.benchmarks.cache.contender.RedisContender;
import io.easykit.benchmarks.measure.Comparison;
import io.easykit.benchmarks.measure.Machine;
import io.easykit.benchmarks.measure.RedisCost;
import io.easykit.benchmarks.measure.Spread;
import io.easykit.benchmarks.measure.Table;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/**
 * C1: hits at the Redis level. Every contender has its own process and Redis for the whole benchmark. In each round all
 * of them run one after the other, so that noise of the machine affects all. Ratios are computed inside a round.
 */
public final class RedisHits {

    private static final List<Integer> THREADS = List.of(1, 16, 64);
    private static final long WARM_UP_MILLIS = 3_000;

    /** All but those with a level in front of Redis, and one that only C5 has. */
    private static final Set<RedisContender> CONTENDERS = EnumSet.complementOf(
            EnumSet.of(RedisContender.SINGLE_LOCK, RedisContender.EASY_CACHE_NEAR, RedisContender.JET_CACHE_BOTH));

    private RedisHits() {}

    /** Takes the milliseconds of a run as argument (default 2000). */
    public static void run(String[] arguments) throws Exception {
        long millis = arguments.length > 0 ? Long.parseLong(arguments[0]) : 2_000;
        List<HitLoadProcess> processes = new ArrayList<>();
        try (RedisServer redis = RedisServer.start()) {
            System.out.println("C1, " + Machine.describe(redis) + ", rounds of " + millis + " ms");
            CommandCosts.run(redis);
        }
        for (RedisContender contender : CONTENDERS) {
            processes.add(new HitLoadProcess(contender));
        }
        for (HitLoadProcess process : processes) {
            process.read(64, WARM_UP_MILLIS);
            process.read(1, WARM_UP_MILLIS);
        }
        for (int threads : THREADS) {
            print(threads, measure(processes, threads, millis));
        }
        for (HitLoadProcess process : processes) {
            process.close();
        }
    }

    private static Map<RedisContender, List<Run>> measure(List<HitLoadProcess> processes, int threads, long millis)
            throws IOException {
        Map<RedisContender, List<Run>> runs = new EnumMap<>(RedisContender.class);
        List<HitLoadProcess> order = new ArrayList<>(processes);
        for (int round = 0; round < Comparison.rounds(); round++) {
            for (HitLoadProcess process : order) {
                runs.computeIfAbsent(process.contender(), some -> new ArrayList<>())
                        .add(process.read(threads, millis));
            }
            Collections.rotate(order, 3);
        }
        return runs;
    }

    private static void print(int threads, Map<RedisContender, List<Run>> runs) {
        List<Run> plain = runs.getOrDefault(RedisContender.RAW_GET, List.of());
        System.out.println("\n" + threads + (threads == 1 ? " thread\n" : " threads\n"));
        Table.header(
                "contender",
                "settings",
                "hits/s",
                "to raw GET",
                RedisCost.heading() + " a hit",
                "to raw GET",
                "client CPU µs a hit",
                "to raw GET",
                "commands");
        runs.forEach((contender, own) -> Table.row(
                contender.title(),
                contender.settings(),
                Spread.of(own, Run::perSecond).text(0),
                ratios(own, plain, Run::perSecond).text(2),
                Spread.of(own, Run::redisCpu).text(2),
                ratios(own, plain, Run::redisCpu).text(2),
                Spread.of(own, Run::clientMicros).text(1),
                ratios(own, plain, Run::clientMicros).text(2),
                own.get(0).redis().callsPer(own.get(0).reads())));
        List<Run> ours = runs.getOrDefault(RedisContender.EASY_CACHE, List.of());
        System.out.printf(
                "%nOf easy-cache's reads: %d ran a script, %d were no hits.%n",
                ours.stream().mapToLong(run -> run.redis().scriptCalls()).sum(),
                ours.stream().mapToLong(Run::loads).sum());
    }

    /** Computed for each round separately. */
    private static Spread ratios(List<Run> own, List<Run> plain, ToDoubleFunction<Run> figure) {
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < own.size(); round++) {
            ratios.add(figure.applyAsDouble(own.get(round)) / figure.applyAsDouble(plain.get(round)));
        }
        return Spread.of(ratios);
    }
}
