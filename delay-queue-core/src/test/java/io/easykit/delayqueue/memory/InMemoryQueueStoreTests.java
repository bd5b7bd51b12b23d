package io.easykit.delayqueue.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.store.FleetStore;
import io.easykit.delayqueue.store.NodeReport;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class InMemoryQueueStoreTests {

    private final InMemoryQueueStore store = new InMemoryQueueStore(() -> 1_000_000);

    /** The fleet holds its monitor while it counts a shard. */
    @Test
    void clearsWhileTheFleetCountsAShard() throws Exception {
        Thread clears = new Thread(store::clear);
        clears.setDaemon(true);

        CompletableFuture<Void> counts = CompletableFuture.runAsync(() -> {
            synchronized (store.fleet()) {
                clears.start();
                while (clears.getState() != Thread.State.BLOCKED) {
                    Thread.onSpinWait();
                }
                store.stats(new ShardKey("orders", 0));
            }
        });

        counts.get(20, TimeUnit.SECONDS);
        clears.join(20_000);
        assertThat(clears.isAlive()).isFalse();
    }

    @Test
    void clearsPauseRequests() {
        FleetStore fleet = store.fleet();
        NodeReport report = new NodeReport("shop", "host", Map.of(), Duration.ZERO, List.of());
        fleet.beat("n1", report, Duration.ofMinutes(1));
        fleet.requestPause("n1", "close", true, "ann");
        assertThat(fleet.beat("n1", report, Duration.ofMinutes(1)).pauseRequests())
                .hasSize(1);

        store.clear();

        assertThat(fleet.beat("n1", report, Duration.ofMinutes(1)).pauseRequests())
                .isEmpty();
    }

    /** So listeners of tests poll each ten seconds of virtual time only. */
    @Test
    void losesNoWakeups() {
        try (Subscription subscription = store.subscribe(List.of(new ShardKey("orders", 0)), (shard, due) -> {})) {
            assertThat(subscription.sinceProof()).isZero();
        }
    }
}
