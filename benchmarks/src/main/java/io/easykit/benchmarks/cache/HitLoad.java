package io.easykit.benchmarks.cache;

import com.sun.management.OperatingSystemMXBean;
import io.easykit.benchmarks.cache.contender.Contender;
import io.easykit.benchmarks.cache.contender.Database;
import io.easykit.benchmarks.cache.contender.RedisContender;
import io.easykit.benchmarks.cache.contender.Setup;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A contender in a separate process. It warms a set of keys, then reads them as ordered by lines of its standard input:
 * threads and milliseconds, and then perhaps a number of keys and of reads a second. It replies with the number of reads,
 * their duration in nanoseconds, the CPU nanoseconds, and the number of reads without a hit.
 */
final class HitLoad {

    static final String READY = "ready";

    static final int KEYS = 1_000;

    private HitLoad() {}

    public static void main(String[] arguments) throws Exception {
        RedisContender which = RedisContender.valueOf(arguments[0]);
        Database database = new Database(Duration.ZERO);
        Setup setup = new Setup(arguments[1], Integer.parseInt(arguments[2]), database, Duration.ofSeconds(1));
        try (Contender contender = which.open(setup)) {
            fill(contender, database);
            System.out.println(READY);
            serve(contender, database);
        }
        System.exit(0);
    }

    /** Reads all keys until all are hits. */
    static void fill(Contender contender, Database database) {
        long loads;
        do {
            loads = database.loads();
            for (int id = 0; id < KEYS; id++) {
                contender.product(id);
            }
        } while (database.loads() != loads);
    }

    private static void serve(Contender contender, Database database)
            throws IOException, ExecutionException, InterruptedException {
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            String[] words = order.split(" ", -1);
            int threads = Integer.parseInt(words[0]);
            int keys = words.length > 2 ? Integer.parseInt(words[2]) : KEYS;
            long pause = words.length > 2 ? TimeUnit.SECONDS.toNanos(threads) / Long.parseLong(words[3]) : 0;
            long loads = database.loads();
            long cpu = cpuNanos();
            long began = System.nanoTime();
            long end = began + TimeUnit.MILLISECONDS.toNanos(Long.parseLong(words[1]));
            long reads = read(threads, () -> readUntil(contender, end, keys, pause));
            long nanos = System.nanoTime() - began;
            System.out.println(reads + " " + nanos + " " + (cpuNanos() - cpu) + " " + (database.loads() - loads));
        }
    }

    /** CPU time of this process with all its threads. */
    private static long cpuNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static long read(int threads, Callable<Long> reader) throws ExecutionException, InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<Long>> counts = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                counts.add(pool.submit(reader));
            }
            long reads = 0;
            for (Future<Long> count : counts) {
                reads += count.get();
            }
            return reads;
        } finally {
            pool.shutdownNow();
        }
    }

    /** @param pause nanoseconds from one read to the next; 0 for none */
    private static long readUntil(Contender contender, long end, int keys, long pause) {
        long reads = 0;
        long due = System.nanoTime();
        for (long now = due; now - end < 0; now = System.nanoTime()) {
            if (now - due < 0) {
                LockSupport.parkNanos(due - now);
                continue;
            }
            due += pause;
            int id = ThreadLocalRandom.current().nextInt(keys);
            if (contender.product(id).id() != id) {
                throw new IllegalStateException("Asked for " + id + " and got another product");
            }
            reads++;
        }
        return reads;
    }
}
