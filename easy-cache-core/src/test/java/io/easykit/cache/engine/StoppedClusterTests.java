package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability.State;
import io.easykit.cache.AvailabilityOptions;
import io.easykit.cache.CacheKey;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Updates while and after a cache stops. */
class StoppedClusterTests extends TwoNodes {

    @Test
    void deliversAtOnceWhatIsUpdatedAfterTheStop() {
        EasyCacheEngine stopped = bench.builder(new JacksonValueCodec()).build();
        stopped.stop();
        CacheKey<String> cp = Workbench.cp().key(1);
        b.fetch(cp, () -> "old");
        for (Operation lost : List.of(Operation.PREPARE, Operation.INVALIDATE)) {
            bench.store.failNext(lost, Fault.LOST_REQUEST);
            stopped.update(List.of(cp), () -> null);
            assertThat(stopped.undelivered("default")).isZero();
            assertThat(bench.store.parts(cp)).isEmpty();
        }
    }

    @Test
    void spendsABoundedTimeOnUpdatesAfterTheStopAndSaysOnceWhatIsLost() {
        try (LogCapture log = LogCapture.of(StoppedCluster.class)) {
            EasyCacheEngine stopped = bench.builder(new JacksonValueCodec()).build();
            stopped.stop();
            bench.store.away();
            long startedAt = bench.clock.nanoTime();
            for (int id = 0; id < 50; id++) {
                stopped.invalidate(Workbench.ap().key(id));
            }
            assertThat(Duration.ofNanos(bench.clock.nanoTime() - startedAt))
                    .isBetween(Duration.ofSeconds(2), Duration.ofMillis(2100));
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .contains("name::0")
                    .contains("1 invalidations")
                    .contains("20");
        }
    }

    @Test
    void deliversWhatIsLeftWhenItIsStopped() {
        EasyCacheEngine running = bench.builder(new JacksonValueCodec())
                .availability(new AvailabilityOptions(Duration.ofSeconds(10), 1, 1000, Duration.ofSeconds(1), 1000))
                .build();
        await().until(() -> bench.store.count(Operation.EPOCHS) > 0);
        bench.store.fail(Operation.INVALIDATE, Fault.LOST_REQUEST);
        bench.store.fail(Operation.DROP, Fault.LOST_REQUEST);
        running.invalidate(key);
        bench.store.back();
        running.stop();
        assertThat(running.undelivered("default")).isZero();
    }

    @Test
    void worksOnAThreadThatMayBeStoppedAndStarted() {
        EasyCacheEngine running = bench.builder(new JacksonValueCodec())
                .availability(new AvailabilityOptions(Duration.ofSeconds(10), 0.5, 10, Duration.ofMillis(5), 2))
                .build();
        for (int i = 0; i < 3; i++) {
            int before = bench.store.count(Operation.EPOCHS);
            await().until(() -> bench.store.count(Operation.EPOCHS) > before + 2);
            running.stop();
            running.start();
            running.start();
        }
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        running.invalidate(key);
        await().until(() -> running.undelivered("default") == 0);
        bench.store.away();
        await().until(() -> stateOf(running) == State.UNAVAILABLE);
        bench.store.back();
        await().until(() -> stateOf(running) == State.AVAILABLE);
        running.stop();
    }
}
