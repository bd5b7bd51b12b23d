package io.easykit.benchmarks;

import io.easykit.benchmarks.HitLoadProcess.Result;
import io.easykit.benchmarks.contender.RedisContender;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/**
 * C1: hits at the Redis level. Every contender has a process of its own for the whole benchmark; in each round all of
 * them run one after the other, so that a noisy moment of the machine meets all. Ratios are taken inside a round.
 */
final class RedisHits {

    private static final List<Integer> THREADS = List.of(1, 16, 64);
    private static final int ROUNDS = 5;
    private static final long WARM_UP_MILLIS = 3_000;

    private static final Set<RedisContender> CONTENDERS = EnumSet.complementOf(EnumSet.of(RedisContender.SINGLE_LOCK));

    private RedisHits() {}

    /**
     * @param arguments milliseconds of one run (2000 without any)
     */
    static void run(String[] arguments) throws Exception {
        long millis = arguments.length > 0 ? Long.parseLong(arguments[0]) : 2_000;
        List<HitLoadProcess> processes = new ArrayList<>();
        try (RedisServer redis = RedisServer.start();
                RawRedis info = redis.connect()) {
            System.out.println("C1, " + Machine.describe(redis) + ", rounds of " + millis + " ms");
            for (RedisContender contender : CONTENDERS) {
                processes.add(new HitLoadProcess(contender, redis));
            }
            for (HitLoadProcess process : processes) {
                process.read(64, WARM_UP_MILLIS);
                process.read(1, WARM_UP_MILLIS);
            }
            for (int threads : THREADS) {
                print(threads, measure(processes, info, threads, millis));
            }
            for (HitLoadProcess process : processes) {
                process.close();
            }
            CommandCosts.run(redis, info);
        }
    }

    private static Map<RedisContender, List<Run>> measure(
            List<HitLoadProcess> processes, RawRedis info, int threads, long millis) throws Exception {
        Map<RedisContender, List<Run>> runs = new EnumMap<>(RedisContender.class);
        List<HitLoadProcess> order = new ArrayList<>(processes);
        for (int round = 0; round < ROUNDS; round++) {
            for (HitLoadProcess process : order) {
                RedisCost before = RedisCost.of(info);
                Result result = process.read(threads, millis);
                Run run = new Run(result, RedisCost.of(info).since(before));
                runs.computeIfAbsent(process.contender(), some -> new ArrayList<>())
                        .add(run);
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
                "Redis CPU µs a hit",
                "to raw GET",
                "client CPU µs a hit",
                "to raw GET",
                "commands");
        runs.forEach((contender, own) -> Table.row(
                contender.title(),
                contender.settings(),
                spread(own, Run::perSecond).text(0),
                ratios(own, plain, Run::perSecond).text(2),
                spread(own, Run::cpuPerHit).text(2),
                ratios(own, plain, Run::cpuPerHit).text(2),
                spread(own, Run::clientCpuPerHit).text(1),
                ratios(own, plain, Run::clientCpuPerHit).text(2),
                own.get(0).cost.callsPer(own.get(0).result.reads())));
        List<Run> ours = runs.getOrDefault(RedisContender.EASY_CACHE, List.of());
        System.out.printf(
                "%nOf easy-cache's reads: %d ran a script, %d were no hits.%n",
                ours.stream().mapToLong(run -> run.cost.scriptCalls()).sum(),
                ours.stream().mapToLong(run -> run.result.loads()).sum());
    }

    private static Spread spread(Collection<Run> runs, ToDoubleFunction<Run> figure) {
        return Spread.of(runs.stream().mapToDouble(figure).boxed().toList());
    }

    /** Of each round by itself. */
    private static Spread ratios(List<Run> own, List<Run> plain, ToDoubleFunction<Run> figure) {
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < own.size(); round++) {
            ratios.add(figure.applyAsDouble(own.get(round)) / figure.applyAsDouble(plain.get(round)));
        }
        return Spread.of(ratios);
    }

    private record Run(Result result, RedisCost cost) {

        double perSecond() {
            return result.perSecond();
        }

        double clientCpuPerHit() {
            return result.cpuMicrosPerRead();
        }

        double cpuPerHit() {
            return (double) cost.cpuMicros() / result.reads();
        }
    }
}
