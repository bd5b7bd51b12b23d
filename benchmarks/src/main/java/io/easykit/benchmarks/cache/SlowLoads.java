package io.easykit.benchmarks.cache;

import io.easykit.benchmarks.cache.contender.Contender;
import io.easykit.benchmarks.cache.contender.Database;
import io.easykit.benchmarks.cache.contender.RedisContender;
import io.easykit.benchmarks.cache.contender.Setup;
import io.easykit.benchmarks.measure.Machine;
import io.easykit.benchmarks.measure.Table;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * C5: loads from a tenth to ten times of the time for which one loader has the exclusive right to load. Four nodes
 * (contenders with separate connections and memory in one JVM) of two readers each read one cold key. Nothing expires
 * and nothing is invalidated, so the best result is one load, or one load per node when the load outlasts the lease.
 */
public final class SlowLoads {

    private static final Duration LOAD_LEASE = Duration.ofMillis(200);
    private static final List<Double> FACTORS = List.of(0.1, 0.5, 1.0, 2.0, 5.0, 10.0);
    private static final Duration HIT = Duration.ofMillis(20);
    private static final int NODES = 4;
    private static final int READERS = 2;
    private static final long PAUSE_MILLIS = 10;

    private static final List<RedisContender> CONTENDERS = List.of(
            RedisContender.EASY_CACHE,
            RedisContender.SINGLE_LOCK,
            RedisContender.SPRING,
            RedisContender.SPRING_TUNED,
            RedisContender.SPRING_LOCKING,
            RedisContender.JET_CACHE,
            RedisContender.JET_CACHE_TUNED);

    private SlowLoads() {}

    /** Takes the milliseconds for which readers read a key as argument (default 8000). */
    public static void run(String[] arguments) throws Exception {
        Duration time = Duration.ofMillis(arguments.length > 0 ? Long.parseLong(arguments[0]) : 8_000);
        try (RedisServer redis = RedisServer.start()) {
            System.out.println("C5, " + Machine.describe(redis) + ", " + NODES + " nodes of " + READERS
                    + " readers, a read each " + PAUSE_MILLIS + " ms for " + time.toMillis() + " ms, load lease "
                    + LOAD_LEASE.toMillis() + " ms\n");
            Table.header("load / lease", "contender", "settings", "loads", "reads", "hit ratio", "first hit after");
            for (double factor : FACTORS) {
                for (RedisContender contender : CONTENDERS) {
                    redis.flush();
                    Duration load = Duration.ofMillis(Math.round(LOAD_LEASE.toMillis() * factor));
                    Outcome outcome = measure(contender, redis, load, time);
                    Table.row(
                            factor,
                            contender.title(),
                            contender.settings(),
                            outcome.loads,
                            outcome.reads,
                            String.format(Locale.ROOT, "%.3f", outcome.hitRatio()),
                            outcome.firstHit());
                }
            }
        }
        System.exit(0);
    }

    private static Outcome measure(RedisContender contender, RedisServer redis, Duration load, Duration time)
            throws Exception {
        Database database = new Database(load);
        Setup setup = new Setup(redis.host(), redis.port(), database, LOAD_LEASE);
        List<Contender> nodes = new ArrayList<>();
        ExecutorService readers = Executors.newFixedThreadPool(NODES * READERS);
        try {
            for (int i = 0; i < NODES; i++) {
                nodes.add(contender.open(setup));
            }
            nodes.forEach(SlowLoads::warmUp);
            long loadsBefore = database.loads();
            long began = System.nanoTime();
            List<Future<Outcome>> outcomes = new ArrayList<>();
            for (int i = 0; i < NODES * READERS; i++) {
                Contender node = nodes.get(i % NODES);
                outcomes.add(readers.submit(() -> read(node, began, time)));
            }
            Outcome sum = new Outcome(0, 0, Long.MAX_VALUE);
            for (Future<Outcome> outcome : outcomes) {
                sum = sum.plus(outcome.get());
            }
            return new Outcome(database.loads() - loadsBefore, sum.reads, sum.firstHitMillis);
        } finally {
            readers.shutdownNow();
            nodes.forEach(Contender::close);
        }
    }

    /** Opens connections and loads classes before the measurement. */
    private static void warmUp(Contender node) {
        long patience = System.nanoTime() + Duration.ofMinutes(1).toNanos();
        for (int hits = 0; hits < 100; ) {
            long began = System.nanoTime();
            node.product(1);
            hits = System.nanoTime() - began < HIT.toNanos() ? hits + 1 : 0;
            if (began - patience > 0) {
                throw new IllegalStateException("No hits within a minute");
            }
        }
    }

    /** A hit is a read that took less than the shortest load: it did not wait. */
    private static Outcome read(Contender node, long began, Duration time) throws InterruptedException {
        long reads = 0;
        long firstHit = Long.MAX_VALUE;
        for (long now = System.nanoTime(); now - began < time.toNanos(); now = System.nanoTime()) {
            node.product(7);
            reads++;
            long took = System.nanoTime() - now;
            if (firstHit == Long.MAX_VALUE && took < HIT.toNanos()) {
                firstHit = (now - began) / 1_000_000;
            }
            Thread.sleep(PAUSE_MILLIS);
        }
        return new Outcome(0, reads, firstHit);
    }

    private record Outcome(long loads, long reads, long firstHitMillis) {

        Outcome plus(Outcome other) {
            return new Outcome(
                    loads + other.loads, reads + other.reads, Math.min(firstHitMillis, other.firstHitMillis));
        }

        double hitRatio() {
            return 1 - (double) loads / reads;
        }

        String firstHit() {
            return firstHitMillis == Long.MAX_VALUE ? "never" : firstHitMillis + " ms";
        }
    }
}
