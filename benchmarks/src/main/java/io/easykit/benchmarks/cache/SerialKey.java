package io.easykit.benchmarks.cache;

import io.easykit.benchmarks.measure.Machine;
import io.easykit.benchmarks.measure.RedisCost;
import io.easykit.benchmarks.measure.Table;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheOrderTimeoutException;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.SerialOptions;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.redis.RedisEntryStore;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** C11: one hot key with 100 updates and 5,000 reads a second in one JVM, in a serial cache beside AP and CP. */
public final class SerialKey {

    private static final int READERS = 50;
    private static final int READS_PER_SECOND = 5_000;
    private static final int WRITERS = 4;
    private static final int WRITES_PER_SECOND = 100;
    private static final Duration DATABASE = Duration.ofMillis(2);

    private SerialKey() {}

    private record Row(String title, Consistency consistency, @Nullable SerialOptions serial) {

        CacheOptions options() {
            return CacheOptions.builder()
                    .consistency(consistency)
                    .serial(serial)
                    .build();
        }
    }

    /** Takes the milliseconds of each row as argument (default 10000). */
    public static void run(String[] arguments) throws Exception {
        Duration time = Duration.ofMillis(arguments.length > 0 ? Long.parseLong(arguments[0]) : 10_000);
        try (RedisServer redis = RedisServer.start()) {
            System.out.println("C11, " + Machine.describe(redis) + ", " + Machine.load() + ", " + WRITES_PER_SECOND
                    + " updates and " + READS_PER_SECOND + " reads a second of one key for " + time.toMillis()
                    + " ms, the database takes " + DATABASE.toMillis() + " ms\n");
            Table.header(
                    "cache",
                    "reads",
                    "updates",
                    "read p50 ms",
                    "p99 ms",
                    "slowest ms",
                    "update p50 ms",
                    "p99 ms",
                    "reads of the database",
                    "a update",
                    "Redis commands a read",
                    "older than an update that had returned",
                    "longest wait for a turn ms",
                    "calls that waited before it",
                    "no turn in time",
                    "longest pause of the machine ms");
            for (Row row : List.of(
                    new Row("AP", Consistency.AP, null),
                    new Row("CP", Consistency.CP, null),
                    new Row("AP, serial", Consistency.AP, SerialOptions.defaults()),
                    new Row("CP, serial", Consistency.CP, SerialOptions.defaults()))) {
                redis.flush();
                // The first one warms up.
                measure(redis, row, Duration.ofSeconds(2));
                redis.flush();
                print(row, measure(redis, row, time));
            }
        }
        System.exit(0);
    }

    /** Nanoseconds of each call, sorted. */
    private record Run(
            List<Long> reads, List<Long> updates, HotKey hot, RedisCost redis, LongestWait turn, Pauses pauses) {}

    /** Of all calls, the one that waited longest for its turn. */
    private static final class LongestWait implements CacheListener {

        private Duration time = Duration.ZERO;
        private int before;

        /** @param queued how many calls waited, this one included */
        @Override
        public synchronized void onTurn(CacheKey<?> key, CacheListener.Turn outcome, Duration waited, int queued) {
            if (waited.compareTo(time) > 0) {
                time = waited;
                before = queued - 1;
            }
        }
    }

    /** Measures how much later than a millisecond a thread with nothing to do goes on. */
    private static final class Pauses extends Thread {

        private volatile long longest;

        @Override
        public void run() {
            while (!isInterrupted()) {
                long begin = System.nanoTime();
                LockSupport.parkNanos(1_000_000);
                longest = Math.max(longest, System.nanoTime() - begin - 1_000_000);
            }
        }
    }

    private static Run measure(RedisServer redis, Row row, Duration time) throws Exception {
        LettuceConnectionFactory connections = new LettuceConnectionFactory(redis.host(), redis.port());
        connections.afterPropertiesSet();
        connections.start();
        LongestWait turn = new LongestWait();
        Pauses pauses = new Pauses();
        EasyCacheEngine cache = EasyCacheEngine.builder(new JacksonValueCodec())
                .listener(turn)
                .store(CacheSpec.DEFAULT_CLUSTER, new RedisEntryStore(connections, Duration.ofSeconds(5)))
                .build();
        ExecutorService pool = Executors.newFixedThreadPool(READERS + WRITERS);
        try (RawRedis info = redis.connect()) {
            HotKey hot = new HotKey(
                    cache,
                    CacheSpec.<Long>of("hot", Long.class)
                            .withOptions(row.options())
                            .key(1));
            pauses.start();
            RedisCost before = RedisCost.of(info);
            long end = System.nanoTime() + time.toNanos();
            List<Future<List<Long>>> reads = new ArrayList<>();
            List<Future<List<Long>>> updates = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                reads.add(pool.submit(() -> timed(end, READERS, READS_PER_SECOND, () -> hot.inTime(hot::read))));
            }
            for (int i = 0; i < WRITERS; i++) {
                updates.add(pool.submit(() -> timed(end, WRITERS, WRITES_PER_SECOND, () -> hot.inTime(hot::update))));
            }
            List<Long> readTimes = all(reads);
            List<Long> updateTimes = all(updates);
            return new Run(readTimes, updateTimes, hot, RedisCost.of(info).since(before), turn, pauses);
        } finally {
            pauses.interrupt();
            pool.shutdownNow();
            cache.close();
            connections.destroy();
        }
    }

    /** Repeats a call at the steady rate of one of several threads. */
    private static List<Long> timed(long end, int threads, int perSecond, Runnable call) {
        long pause = 1_000_000_000L * threads / perSecond;
        List<Long> times = new ArrayList<>();
        long due = System.nanoTime();
        for (long now = due; now - end < 0; now = System.nanoTime()) {
            if (now - due < 0) {
                LockSupport.parkNanos(due - now);
                continue;
            }
            due += pause;
            call.run();
            times.add(System.nanoTime() - now);
        }
        return times;
    }

    private static List<Long> all(List<Future<List<Long>>> parts) throws Exception {
        List<Long> all = new ArrayList<>();
        for (Future<List<Long>> part : parts) {
            all.addAll(part.get());
        }
        Collections.sort(all);
        return all;
    }

    /** A number that updates count up. */
    private static final class HotKey {

        private final EasyCacheEngine cache;
        private final CacheKey<Long> key;
        private final AtomicLong row = new AtomicLong();
        private final AtomicLong acknowledged = new AtomicLong();
        private final AtomicLong loads = new AtomicLong();
        private final AtomicLong old = new AtomicLong();
        private final AtomicLong late = new AtomicLong();

        HotKey(EasyCacheEngine cache, CacheKey<Long> key) {
            this.cache = cache;
            this.key = key;
        }

        void inTime(Runnable call) {
            try {
                call.run();
            } catch (CacheOrderTimeoutException noTurn) {
                late.incrementAndGet();
            }
        }

        void read() {
            long least = acknowledged.get();
            Long number = cache.fetch(key, () -> {
                loads.incrementAndGet();
                long seen = row.get();
                LockSupport.parkNanos(DATABASE.toNanos());
                return seen;
            });
            if (number == null || number < least) {
                old.incrementAndGet();
            }
        }

        void update() {
            Long number = cache.update(List.of(key), () -> {
                LockSupport.parkNanos(DATABASE.toNanos());
                return row.incrementAndGet();
            });
            acknowledged.accumulateAndGet(number == null ? 0 : number, Math::max);
        }
    }

    private static void print(Row row, Run run) {
        Table.row(
                row.title,
                run.reads.size(),
                run.updates.size(),
                millis(run.reads, 0.5),
                millis(run.reads, 0.99),
                millis(run.reads, 1),
                millis(run.updates, 0.5),
                millis(run.updates, 0.99),
                run.hot.loads,
                String.format(Locale.ROOT, "%.2f", run.hot.loads.doubleValue() / run.updates.size()),
                String.format(Locale.ROOT, "%.2f", (double) run.redis.allCalls() / run.reads.size()),
                run.hot.old,
                row.serial == null ? "" : millis(run.turn.time.toNanos()),
                row.serial == null ? "" : run.turn.before,
                run.hot.late,
                millis(run.pauses.longest));
    }

    private static String millis(List<Long> sorted, double part) {
        long nanos = sorted.get((int) Math.min(sorted.size() - 1, sorted.size() * part));
        return millis(nanos);
    }

    private static String millis(long nanos) {
        return String.format(Locale.ROOT, "%.2f", nanos / 1e6);
    }
}
