package io.easykit.benchmarks.cache;

import io.easykit.benchmarks.cache.contender.BatchContender;
import io.easykit.benchmarks.measure.Machine;
import io.easykit.benchmarks.measure.RedisCost;
import io.easykit.benchmarks.measure.Spread;
import io.easykit.benchmarks.measure.Table;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;

/**
 * C10: ten ids, as one batch and one by one. First all of them cached, then five of them. Round trips are counted by time: through
 * a connection that delays each request, a read takes that delay for each time that it waits for Redis.
 */
public final class BatchReads {

    private static final int IDS = 10;
    private static final int ROUNDS = 3;
    private static final Duration DELAY = Duration.ofMillis(100);
    private static final int DELAYED = 5;

    private BatchReads() {}

    /** Takes the number of batches in a round as argument (default 1000). */
    public static void run(String[] arguments) {
        int batches = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_000;
        try (RedisServer redis = RedisServer.start()) {
            System.out.println("C10, " + Machine.describe(redis) + ", " + Machine.load() + ", " + ROUNDS + " rounds of "
                    + batches + " batches of " + IDS + " ids\n");
            Table.header(
                    "cached",
                    "contender",
                    "settings",
                    "round trips",
                    "commands of clients and scripts",
                    "calls of the loader",
                    RedisCost.heading(),
                    "client CPU µs",
                    "commands");
            for (int cached : List.of(IDS, IDS / 2)) {
                for (BatchContender.Kind kind : BatchContender.Kind.values()) {
                    redis.flush();
                    print(cached, kind, measure(redis, kind, cached, batches), roundTrips(redis, kind, cached));
                }
            }
        }
        System.exit(0);
    }

    private static List<Run> measure(RedisServer redis, BatchContender.Kind kind, int cached, int batches) {
        List<Run> runs = new ArrayList<>();
        try (BatchContender contender = kind.open(redis.host(), redis.port());
                RawRedis info = redis.connect()) {
            // The first round warms up.
            for (int round = 0; round <= ROUNDS; round++) {
                long first = (long) round * batches * IDS;
                for (int batch = 0; batch < batches; batch++) {
                    contender.read(ids(first + (long) batch * IDS, cached));
                }
                Run run = run(contender, info, first, batches);
                if (round > 0) {
                    runs.add(run);
                }
            }
        }
        return runs;
    }

    /** The median of a few batches. */
    private static double roundTrips(RedisServer redis, BatchContender.Kind kind, int cached) {
        List<Double> trips = new ArrayList<>();
        try (TcpProxy line = TcpProxy.to(redis);
                BatchContender contender = kind.open(line.host(), line.port())) {
            for (int batch = 0; batch <= DELAYED; batch++) {
                long first = 1_000_000_000L + (long) batch * IDS;
                contender.read(ids(first, cached));
                line.delay(DELAY);
                long began = System.nanoTime();
                contender.read(ids(first, IDS));
                double took = System.nanoTime() - began;
                line.delay(Duration.ZERO);
                // The first one warms up.
                if (batch > 0) {
                    trips.add(took / DELAY.toNanos());
                }
            }
        }
        return Spread.of(trips).median();
    }

    private static List<Long> ids(long first, int count) {
        return LongStream.range(first, first + count).boxed().toList();
    }

    private static Run run(BatchContender contender, RawRedis info, long first, int batches) {
        long loads = contender.loads();
        RedisCost before = RedisCost.of(info);
        long cpu = cpuNanos();
        for (int batch = 0; batch < batches; batch++) {
            contender.read(ids(first + (long) batch * IDS, IDS));
        }
        long nanos = cpuNanos() - cpu;
        return new Run(
                batches, contender.loads() - loads, nanos, RedisCost.of(info).since(before));
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    private record Run(int batches, long loads, long cpuNanos, RedisCost redis) {

        double commands() {
            return (double) redis.allCalls() / batches;
        }

        double loaderCalls() {
            return (double) loads / batches;
        }

        double redisCpu() {
            return redis.cpu() / batches;
        }

        double clientMicros() {
            return cpuNanos / 1e3 / batches;
        }
    }

    private static void print(int cached, BatchContender.Kind kind, List<Run> runs, double roundTrips) {
        Table.row(
                cached + " of " + IDS,
                kind.title(),
                kind.settings(),
                String.format(Locale.ROOT, "%.1f", roundTrips),
                String.format(
                        Locale.ROOT, "%.2f", Spread.of(runs, Run::commands).median()),
                Spread.of(runs, Run::loaderCalls).text(2),
                Spread.of(runs, Run::redisCpu).text(0),
                Spread.of(runs, Run::clientMicros).text(0),
                runs.get(0).redis.callsPer(runs.get(0).batches));
    }
}
