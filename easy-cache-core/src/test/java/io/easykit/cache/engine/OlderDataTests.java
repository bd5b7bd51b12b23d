package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.Consistency;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A server restarts with a snapshot, or a replica that was far behind is promoted. */
class OlderDataTests extends TwoNodes {

    private final AtomicReference<String> database = new AtomicReference<>("old");
    private final CacheKey<String> other = Workbench.ap().key(2);

    @BeforeEach
    void start() {
        bench.store.answeringLater();
        rounds(3);
    }

    /** Rounds of both nodes, one a second. */
    private void rounds(int seconds) {
        for (int i = 0; i < seconds; i++) {
            bench.clock.advance(Duration.ofSeconds(1));
            tick(a, 1);
            tick(b, 1);
        }
    }

    private void update(CacheKey<String> updated) {
        a.update(List.of(updated), () -> {
            database.set("new");
            return null;
        });
    }

    /** @return restarts the server without the update, and with another entry */
    private Runnable updateThatGetsLost(CacheKey<String> updated, int secondsAgo) {
        a.fetch(updated, database::get);
        a.fetch(other, () -> "kept");
        rounds(1);
        Runnable restart = bench.store.snapshot();
        update(updated);
        rounds(secondsAgo);
        return restart;
    }

    private String read(EasyCacheEngine node, CacheKey<String> of) {
        return node.fetch(of, database::get);
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isNeverReadAfterANewConnection(Consistency consistency) {
        CacheKey<String> key = Workbench.spec(consistency).key(1);
        updateThatGetsLost(key, 60).run();
        bench.store.reconnect();

        assertThat(read(a, key)).isEqualTo("new");
        assertThat(b.async()
                        .fetch(key, () -> CompletableFuture.completedFuture(database.get()))
                        .join())
                .isEqualTo("new");

        rounds(2);
        database.set("never");
        assertThat(read(a, key)).as("stored again").isIn("new", "never");
        assertThat(read(bench.node(), key)).isNotEqualTo("old");
    }

    /** The reader has checked the epochs over the former connection. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isNotReadByACallThatIsUnderWay(Consistency consistency) {
        CacheKey<String> key = Workbench.spec(consistency).key(1);
        Runnable restart = updateThatGetsLost(key, 60);
        bench.store.onNext(Operation.READ, () -> {
            restart.run();
            bench.store.reconnect();
        });

        assertThat(read(b, key)).isEqualTo("new");
    }

    /** The reply to a reader's own read of the epochs may be of the former server. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isNoticedIfTheConnectionChangesUnderTheReadOfTheEpochs(Consistency consistency) {
        CacheKey<String> key = Workbench.spec(consistency).key(1);
        Runnable restart = updateThatGetsLost(key, 60);
        bench.store.reconnect();
        bench.store.afterNext(Operation.EPOCHS, () -> {
            restart.run();
            bench.store.reconnect();
        });

        assertThat(read(b, key)).isEqualTo("new");
    }

    /** A node that has just started does not know what the server has lost. */
    @Test
    void isDroppedForNodesThatStartLater() {
        updateThatGetsLost(key, 60).run();
        bench.store.reconnect();
        rounds(2);

        EasyCacheEngine later = bench.node();
        assertThat(read(later, key)).isEqualTo("new");
        assertThat(bench.store.raised()).containsOnlyKeys(EpochRange.EVERY_PREFIX);
        assertThat(read(later, key)).isEqualTo("new");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isDroppedBeforeReadersAreLetInAfterAnOutage(Consistency consistency) {
        CacheKey<String> key = Workbench.spec(consistency).key(1);
        Runnable restart = updateThatGetsLost(key, 60);
        bench.store.away();
        rounds(10);
        assertThat(stateOf(a)).isEqualTo(State.UNAVAILABLE);
        restart.run();
        bench.store.back();
        bench.store.reconnect();
        for (int i = 0; i < 30 && stateOf(a) != State.AVAILABLE; i++) {
            rounds(1);
        }

        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
        assertThat(read(a, key)).isEqualTo("new");
        assertThat(read(bench.node(), key)).isEqualTo("new");
    }

    /** The invalidations of the last seconds are repeated, and the others are there. */
    @Test
    void ofSomeSecondsDropsNoOtherEntries() {
        updateThatGetsLost(key, 10).run();
        bench.store.reconnect();
        rounds(2);

        assertThat(read(a, key)).isEqualTo("new");
        assertThat(read(a, other)).isEqualTo("kept");
        assertThat(read(bench.node(), key)).isEqualTo("new");
    }

    @Test
    void isNoticedOnlyOverANewConnection() {
        a.fetch(other, () -> "kept");
        rounds(60);
        bench.store.loseEpochs();
        rounds(3);
        assertThat(read(a, other)).as("the epochs alone were evicted").isEqualTo("kept");

        bench.store.reconnect();
        rounds(3);
        assertThat(read(a, other)).as("and the mark rises again").isEqualTo("kept");
    }

    /** One advance a second, however many nodes there are. */
    @Test
    void costsOneWriteASecond() {
        rounds(1);
        int before = bench.store.count(Operation.MARK);
        rounds(60);
        assertThat(bench.store.count(Operation.MARK) - before).isEqualTo(60);
    }

    /** Each partition has epochs of its own here. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void isDroppedInThePartitionThatHasIt(int partition) {
        bench.store.inParts(3);
        EasyCacheEngine node = bench.node();
        cluster(node).workers().forEach(RecoveryWorker::tick);
        CacheKey<String> key = Workbench.ap().key(1);
        node.fetch(key, database::get);
        Runnable restart = bench.store.snapshot();
        node.update(List.of(key), () -> {
            database.set("new");
            return null;
        });
        for (int i = 0; i < 60; i++) {
            bench.clock.advance(Duration.ofSeconds(1));
            cluster(node).workers().forEach(RecoveryWorker::tick);
        }
        restart.run();
        bench.store.reconnect();
        cluster(node).workers().get(partition).tick();
        assertThat(read(node, key)).isEqualTo("new");
    }
}
