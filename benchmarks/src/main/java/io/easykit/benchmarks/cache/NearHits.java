package io.easykit.benchmarks.cache;

import io.easykit.benchmarks.cache.HitLoadProcess.Run;
import io.easykit.benchmarks.cache.contender.RedisContender;
import io.easykit.benchmarks.measure.Machine;
import io.easykit.benchmarks.measure.RedisCost;
import io.easykit.benchmarks.measure.Spread;
import io.easykit.benchmarks.measure.Table;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * C9: hot keys. Without and with a level in front of Redis: its commands, at a steady rate of reads of ten keys by 64 threads.
 * Then {@link NearAges}: how old the values are that three JVMs read. C2 has what one hit costs.
 */
public final class NearHits {

    private static final List<RedisContender> CONTENDERS = List.of(
            RedisContender.EASY_CACHE,
            RedisContender.EASY_CACHE_NEAR,
            RedisContender.SPRING_TUNED,
            RedisContender.JET_CACHE_TUNED,
            RedisContender.JET_CACHE_BOTH);

    private static final int THREADS = 64;
    private static final int KEYS = 10;
    private static final int PER_SECOND = 20_000;
    private static final int ROUNDS = 3;
    private static final long WARM_UP_MILLIS = 3_000;

    private NearHits() {}

    /** Takes the milliseconds of a run as argument (default 5000), and the reads of all three JVMs (default 1000000). */
    public static void run(String[] arguments) throws Exception {
        long millis = arguments.length > 0 ? Long.parseLong(arguments[0]) : 5_000;
        int reads = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1_000_000;
        System.out.println("C9, " + Machine.describe() + ", " + Machine.load() + "\n");
        System.out.printf(
                Locale.ROOT,
                "%d threads read %d keys %,d times a second, %d rounds of %d ms%n%n",
                THREADS,
                KEYS,
                PER_SECOND,
                ROUNDS,
                millis);
        print(measure(millis));
        NearAges.run(reads);
        System.exit(0);
    }

    private static Map<RedisContender, List<Run>> measure(long millis) {
        List<HitLoadProcess> processes = new ArrayList<>();
        Map<RedisContender, List<Run>> runs = new EnumMap<>(RedisContender.class);
        CONTENDERS.forEach(contender -> processes.add(new HitLoadProcess(contender)));
        processes.forEach(process -> process.readHot(THREADS, WARM_UP_MILLIS, KEYS, PER_SECOND));
        for (int round = 0; round < ROUNDS; round++) {
            for (HitLoadProcess process : processes) {
                runs.computeIfAbsent(process.contender(), some -> new ArrayList<>())
                        .add(process.readHot(THREADS, millis, KEYS, PER_SECOND));
            }
        }
        processes.forEach(HitLoadProcess::close);
        return runs;
    }

    private static void print(Map<RedisContender, List<Run>> runs) {
        double plain = Spread.of(runs.getOrDefault(RedisContender.EASY_CACHE, List.of()), NearHits::commands)
                .median();
        Table.header(
                "contender",
                "settings",
                "reads/s",
                "commands a read",
                "fewer than easy-cache without",
                RedisCost.heading() + " a read",
                "client CPU µs a read",
                "commands");
        runs.forEach((contender, own) -> Table.row(
                contender.title(),
                contender.settings(),
                Spread.of(own, Run::perSecond).text(0),
                Spread.of(own, NearHits::commands).text(4),
                String.format(
                        Locale.ROOT,
                        "%.1f %%",
                        100 - 100 * Spread.of(own, NearHits::commands).median() / plain),
                Spread.of(own, Run::redisCpu).text(2),
                Spread.of(own, Run::clientMicros).text(1),
                own.get(0).redis().callsPer(own.get(0).reads())));
    }

    private static double commands(Run run) {
        return (double) run.redis().allCalls() / run.reads();
    }
}
