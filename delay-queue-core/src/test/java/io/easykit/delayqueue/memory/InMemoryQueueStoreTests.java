package io.easykit.delayqueue.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.store.Beat;
import io.easykit.delayqueue.store.FleetStore;
import io.easykit.delayqueue.store.NodeReport;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
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

    @Test
    void keepsThePauseRequestsOfASilentNodeForAnHour() {
        AtomicLong micros = new AtomicLong();
        FleetStore fleet = new InMemoryQueueStore(micros::get).fleet();
        NodeReport report = new NodeReport("shop", "host", Map.of(), Duration.ZERO, List.of());
        Duration expiry = Duration.ofSeconds(30);
        fleet.beat("n1", report, expiry);
        fleet.requestPause("n1", "close", true, "ann");

        micros.set(TimeUnit.SECONDS.toMicros(40));
        fleet.beat("n2", report, expiry);
        assertThat(fleet.beat("n1", report, expiry).pauseRequests()).hasSize(1);

        micros.set(TimeUnit.SECONDS.toMicros(80));
        fleet.beat("n2", report, expiry);
        micros.set(TimeUnit.SECONDS.toMicros(3_680));
        assertThat(fleet.beat("n1", report, expiry).pauseRequests()).isEmpty();

        fleet.requestPause("n1", "close", true, "ann");
        micros.set(TimeUnit.SECONDS.toMicros(3_720));
        assertThat(fleet.requestPause("n1", "mail", true, "ann")).isFalse();
        assertThat(fleet.requestPause("n1", "close", false, "ann")).isTrue();
        assertThat(fleet.beat("n1", report, expiry).pauseRequests())
                .extracting(Beat.PauseRequest::pause)
                .containsExactly(false);
        fleet.leave("n1");
        assertThat(fleet.beat("n1", report, expiry).pauseRequests()).isEmpty();
    }

    /** So listeners of tests poll each ten seconds of virtual time only. */
    @Test
    void losesNoWakeups() {
        try (Subscription subscription = store.subscribe(List.of(new ShardKey("orders", 0)), (shard, due) -> {})) {
            assertThat(subscription.sinceProof()).isZero();
        }
    }
}
