package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.SerialOptions;
import io.easykit.cache.jackson.JacksonValueCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/**
 * Random calls inside calls, by several threads at once. All waits have a bound of minutes, so a schedule that needed one would
 * not end in the time of the test. {@code -Deasykit.schedules=10000} runs more of them.
 */
class SerialSchedulesTests {

    private static final int SCHEDULES = Integer.getInteger("easykit.schedules", 2_000);
    private static final int THREADS = 4;
    private static final int KEYS = 4;
    private static final Duration BOUND = Duration.ofMinutes(10);

    private final Map<CacheListener.Turn, LongAdder> turns = new ConcurrentHashMap<>();
    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.builder(new JacksonValueCodec())
            .listener(new CacheListener() {
                @Override
                public void onTurn(CacheKey<?> key, Turn turn, Duration waited, int queued) {
                    turns.computeIfAbsent(turn, any -> new LongAdder()).increment();
                }
            })
            .buildStopped();

    private static CacheSpec<String> spec(Consistency consistency, boolean serial) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        return spec.withOptions(spec.options().toBuilder()
                .loadWaitTimeout(BOUND)
                .serial(serial ? SerialOptions.defaults().withMaxWait(BOUND) : null)
                .build());
    }

    /** The last key is one of a cache without order. */
    private static List<CacheKey<String>> keys(int schedule, Random random) {
        List<CacheKey<String>> keys = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            Consistency consistency = random.nextBoolean() ? Consistency.AP : Consistency.CP;
            keys.add(spec(consistency, true).key(schedule, i));
        }
        keys.add(spec(Consistency.CP, false).key(schedule, "unordered"));
        return keys;
    }

    private String call(List<CacheKey<String>> keys, Random random, int depth) {
        if (depth == 0 || random.nextInt(5) == 0) {
            return "leaf";
        }
        CacheKey<String> key = keys.get(random.nextInt(keys.size()));
        CacheKey<String> second = keys.get(random.nextInt(KEYS));
        return switch (random.nextInt(6)) {
            case 0, 1, 2 -> cache.fetch(key, () -> inside(keys, random, depth));
            case 3 -> cache.update(List.of(second), () -> inside(keys, random, depth));
            case 4 -> cache.updateInTransaction(List.of(key, second), () -> inside(keys, random, depth));
            default -> cache.inOrder(List.of(second, key), () -> inside(keys, random, depth));
        };
    }

    @SuppressWarnings("ThreadPriorityCheck") // more interleavings
    private String inside(List<CacheKey<String>> keys, Random random, int depth) {
        if (random.nextBoolean()) {
            Thread.yield();
        }
        for (int calls = random.nextInt(3); calls > 0; calls--) {
            call(keys, random, depth - 1);
        }
        return "done";
    }

    private static void requireEnd(Future<String> call, int schedule) throws Exception {
        try {
            assertThat(call.get(60, TimeUnit.SECONDS)).isNotNull();
        } catch (TimeoutException endless) {
            StringBuilder stacks = new StringBuilder();
            Thread.getAllStackTraces().forEach((thread, stack) -> {
                if (thread.getName().startsWith("pool-")) {
                    stacks.append(thread).append('\n');
                    for (StackTraceElement element : stack) {
                        stacks.append("    ").append(element).append('\n');
                    }
                }
            });
            throw new AssertionError("Schedule " + schedule + " does not end:\n" + stacks, endless);
        }
    }

    @Test
    void noneOfThemNeedsTheBoundOfAWait() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        CyclicBarrier together = new CyclicBarrier(THREADS);
        try {
            for (int schedule = 0; schedule < SCHEDULES; schedule++) {
                List<CacheKey<String>> keys = keys(schedule, new Random(schedule));
                List<Future<String>> calls = new ArrayList<>();
                for (int thread = 0; thread < THREADS; thread++) {
                    Random random = new Random(schedule * 31L + thread);
                    Callable<String> work = () -> {
                        together.await(60, TimeUnit.SECONDS);
                        call(keys, random, 4);
                        return call(keys, random, 4);
                    };
                    calls.add(threads.submit(work));
                }
                for (Future<String> call : calls) {
                    requireEnd(call, schedule);
                }
                assertThat(cache.busyKeys()).as("schedule %s", schedule).isZero();
                bench.events.next();
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(turns.keySet())
                .containsExactlyInAnyOrder(
                        CacheListener.Turn.OWN, CacheListener.Turn.MERGED, CacheListener.Turn.OUTSIDE);
    }
}
