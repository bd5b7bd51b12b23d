package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.jackson.JacksonValueCodec;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Something happens to one read, update or refresh of a key: every other reader is done within its waiting time. */
@Timeout(60)
class OtherReadersTests {

    private static final Duration WAITING = Duration.ofMillis(200);

    /** For a machine that has much else to do. Who waits for ever waits longer. */
    private static final Duration SLACK = Duration.ofSeconds(8);

    private final Workbench bench = new Workbench();
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch never = new CountDownLatch(1);
    private volatile @Nullable Thread victim;

    enum Act {
        READ,
        UPDATE,
        REFRESH
    }

    enum Fault {
        INTERRUPT,
        ERROR,
        STACK_OVERFLOW,
        NEVER_RETURNS,
        FULL_POOL
    }

    static Stream<Arguments> faults() {
        return Stream.of(Act.values())
                .flatMap(act -> Stream.of(Fault.values()).flatMap(fault -> Stream.of(Consistency.values())
                        .map(consistency -> Arguments.of(act, fault, consistency))));
    }

    @AfterEach
    void end() {
        never.countDown();
    }

    @ParameterizedTest
    @MethodSource("faults")
    void areDoneWithinTheirWaitingTime(Act act, Fault fault, Consistency consistency) throws Exception {
        EasyCacheEngine cache = bench.builder(new JacksonValueCodec())
                .ticker(Ticker.SYSTEM)
                .background(fault == Fault.FULL_POOL ? OtherReadersTests::reject : onThreads())
                .buildStopped();
        CacheSpec<String> spec = Workbench.spec(consistency);
        CacheKey<String> key = spec.withOptions(
                        spec.options().toBuilder().loadWaitTimeout(WAITING).build())
                .key(1);
        start(act, fault, cache, key);

        List<Caller<Duration>> others = Workbench.call(10, () -> {
            long startedAt = System.nanoTime();
            try {
                assertThat(cache.fetch(key, () -> "value")).isIn("value", "old");
            } catch (NoClassDefFoundError failureOfTheSharedLoad) {
                assertThat(fault).isEqualTo(Fault.ERROR);
            }
            return Duration.ofNanos(System.nanoTime() - startedAt);
        });
        Thread interrupted = victim;
        if (fault == Fault.INTERRUPT && interrupted != null) {
            interrupted.interrupt();
        }

        for (Caller<Duration> other : others) {
            assertThat(other.result())
                    .isLessThan(WAITING.plus(InFlightLoad.GRACE).plus(SLACK));
        }
        bench.clock.advance(Duration.ofSeconds(40));
        await().until(() -> {
            cache.fetch(key, () -> "again");
            return bench.store.parts(key).contains("value");
        });
    }

    private void start(Act act, Fault fault, EasyCacheEngine cache, CacheKey<String> key) throws InterruptedException {
        switch (act) {
            case READ -> Workbench.call(() -> cache.fetch(key, () -> suffer(fault)));
            case UPDATE -> Workbench.call(() -> cache.update(List.of(key), () -> suffer(fault)));
            case REFRESH -> {
                cache.fetch(key, () -> "old");
                bench.node().invalidate(key);
                Workbench.call(() -> cache.fetch(key, () -> suffer(fault)));
            }
        }
        if (act != Act.REFRESH
                || fault != Fault.FULL_POOL
                || key.spec().options().effectiveStaleWindow().isZero()) {
            assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    private String suffer(Fault fault) {
        victim = Thread.currentThread();
        entered.countDown();
        return switch (fault) {
            case INTERRUPT, NEVER_RETURNS -> hang();
            case ERROR -> throw new NoClassDefFoundError("a jar that is gone");
            case STACK_OVERFLOW -> overflow(0);
            case FULL_POOL -> "value";
        };
    }

    private String hang() {
        try {
            assertThat(never.await(50, TimeUnit.SECONDS)).isTrue();
            return "late";
        } catch (InterruptedException stop) {
            throw new IllegalStateException("The driver was interrupted", stop);
        }
    }

    private static String overflow(int depth) {
        return depth < 0 ? "" : overflow(depth + 1) + depth;
    }

    private static Executor onThreads() {
        return task -> {
            Thread thread = new Thread(task, "refresh");
            thread.setDaemon(true);
            thread.start();
        };
    }

    private static void reject(Runnable task) {
        throw new RejectedExecutionException("full");
    }
}
