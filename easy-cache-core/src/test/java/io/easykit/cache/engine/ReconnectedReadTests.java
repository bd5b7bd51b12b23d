package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CachedValue;
import io.easykit.cache.Consistency;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The server restarts with older data, and the connection changes, at any step of a read. */
class ReconnectedReadTests {

    private static final int STEPS = 12;

    /** More than one chunk of commands. */
    private static final List<Integer> IDS =
            IntStream.range(0, 3 * GuardedCalls.CHUNK).boxed().toList();

    private final Workbench bench = new Workbench();
    private final AtomicReference<String> database = new AtomicReference<>("old");
    private final AtomicInteger stepsLeft = new AtomicInteger(-1);
    private Runnable restart = () -> {};
    private Runnable atStep = this::restartAndReconnect;
    private EasyCacheEngine node;

    @BeforeEach
    void start() {
        bench.store.answeringLater();
        bench.store.inParts(2);
        startNode();
    }

    private void startNode() {
        bench.store.onLookUp(() -> {
            if (stepsLeft.get() >= 0 && stepsLeft.getAndDecrement() == 0) {
                atStep.run();
            }
        });
        node = bench.node();
        rounds(5);
    }

    private void rounds(int seconds) {
        for (int i = 0; i < seconds; i++) {
            bench.clock.advance(Duration.ofSeconds(1));
            TwoNodes.cluster(node).workers().forEach(RecoveryWorker::tick);
        }
    }

    private void restartAndReconnect() {
        restart.run();
        bench.store.reconnect();
    }

    /** The next restart of the server brings back the values from before it. */
    private void update(List<CacheKey<String>> keys) {
        restart = bench.store.snapshot();
        node.update(keys, () -> {
            database.set("new");
            return null;
        });
        rounds(60);
    }

    private CacheKey<String> updated(Consistency consistency) {
        CacheKey<String> key = Workbench.spec(consistency).key(1);
        assertThat(read(key)).isEqualTo("old");
        rounds(1);
        update(List.of(key));
        return key;
    }

    private String read(CacheKey<String> key) {
        return node.fetch(key, database::get);
    }

    private Map<Integer, String> readAll(CacheSpec<String> spec, List<Integer> ids) {
        return node.fetchAll(spec, ids, missing -> BatchSource.all(missing, database.get()));
    }

    static Stream<Arguments> steps() {
        return Stream.of(Consistency.values())
                .flatMap(consistency -> IntStream.range(0, STEPS).mapToObj(step -> Arguments.of(consistency, step)));
    }

    @ParameterizedTest
    @MethodSource("steps")
    void getsNoOlderValue(Consistency consistency, int step) {
        CacheKey<String> key = updated(consistency);
        stepsLeft.set(step);
        assertThat(read(key)).isEqualTo("new");
    }

    @ParameterizedTest
    @MethodSource("steps")
    void getsNoOlderValueLater(Consistency consistency, int step) {
        CacheKey<String> key = updated(consistency);
        stepsLeft.set(step);
        assertThat(node.async()
                        .fetch(key, () -> CompletableFuture.completedFuture(database.get()))
                        .join())
                .isEqualTo("new");
    }

    @ParameterizedTest
    @MethodSource("steps")
    void looksAtNoOlderValue(Consistency consistency, int step) {
        CacheKey<String> key = updated(consistency);
        stepsLeft.set(step);
        CachedValue<String> seen = node.peek(key);
        assertThat(seen == null ? null : seen.value()).isNotEqualTo("old");
    }

    @ParameterizedTest
    @MethodSource("steps")
    void getsNoOlderValueInABatch(Consistency consistency, int step) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        List<Integer> ids = List.of(1, 3);
        readAll(spec, ids);
        rounds(1);
        update(List.of(spec.key(1), spec.key(3)));
        stepsLeft.set(step);
        assertThat(readAll(spec, ids)).isEqualTo(BatchSource.all(ids, "new"));
    }

    /** The epochs of all elements are checked before the first chunk is sent. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void getsNoOlderValueInLaterChunks(Consistency consistency) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        readAll(spec, IDS);
        rounds(1);
        update(IDS.stream().map(spec::key).toList());
        bench.store.onNext(Operation.READ, this::restartAndReconnect);
        assertThat(readAll(spec, IDS)).isEqualTo(BatchSource.all(IDS, "new"));
    }

    /** Each of the reader's own reads of the epochs is of the former server. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void getsNoOlderValueIfTheConnectionChangesAgainAndAgain(Consistency consistency) {
        CacheKey<String> key = updated(consistency);
        bench.store.reconnect();
        afterReadsOfTheEpochs(bench.store::reconnect, bench.store::reconnect, this::restartAndReconnect);
        assertThat(read(key)).isEqualTo("new");
    }

    /** The reply after the last repetition is of a later server than its number, which another thread has read marks over. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void getsNoOlderValueIfAMarkArrivesUnderTheNumberOfAnEarlierConnection(Consistency consistency) {
        CacheKey<String> key = updated(consistency);
        bench.store.reconnect();
        afterReadsOfTheEpochs(bench.store::reconnect, () -> {
            bench.store.reconnect();
            TwoNodes.cluster(node).workers().forEach(RecoveryWorker::tick);
            bench.store.onNext(Operation.EPOCHS, this::restartAndReconnect);
        });
        assertThat(read(key)).isEqualTo("new");
    }

    /** The restarted server accepts the value of a load that began before an update. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void sharesNoValueThatAnOlderServerHasAccepted(Consistency consistency) throws Exception {
        CacheKey<String> key = Workbench.spec(consistency).key(1);
        EasyCacheEngine other = bench.node();
        GatedLoader<String> slow = new GatedLoader<>(database::get);
        Caller<String> first = Workbench.call(() -> node.fetch(key, slow));
        slow.awaitEntered();
        restart = bench.store.snapshot();
        other.update(List.of(key), () -> {
            database.set("new");
            return null;
        });
        for (int i = 0; i < 60; i++) {
            rounds(1);
            TwoNodes.cluster(other).workers().forEach(RecoveryWorker::tick);
        }
        Caller<String> later = Workbench.call(() -> read(key)).awaitWaiting();
        restartAndReconnect();
        slow.letGo();

        assertThat(first.result()).as("the update came later").isIn("old", "new");
        assertThat(later.result()).isEqualTo("new");
    }

    /** The event of the new connection comes between the new partitions and the workers of these. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void getsNoOlderValueIfThePartitionsAreReplacedMeanwhile(Consistency consistency) throws Exception {
        CacheKey<String> key = updated(consistency);
        AtomicReference<Caller<Boolean>> event = new AtomicReference<>();
        bench.store.repartition(3);
        AtomicBoolean replaced = new AtomicBoolean();
        bench.store.onLookUp(() -> {
            if (TwoNodes.cluster(node).availability().partitions().count() == 3 && !replaced.getAndSet(true)) {
                assertThat(read(key)).isEqualTo("new");
                restart.run();
                Caller<Boolean> reconnect = TwoNodes.inBackground(bench.store::reconnect);
                event.set(reconnect);
                await().until(() -> reconnect.isDone() || reconnect.isBlocked());
            }
        });
        rounds(1);
        assertThat(event.get().result()).isTrue();

        assertThat(read(key)).isEqualTo("new");
    }

    /** The epochs become too old for a CP reader between two steps of its read, one of which has seen the clearing. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
    void seesAClearingIfTheEpochsGetOldMeanwhile(int step) {
        bench.store.inPartsOfOneRange(2);
        startNode();
        CacheKey<String> key = Workbench.cp().key(1);
        assertThat(read(key)).isEqualTo("old");
        atStep = () -> bench.clock.advance(Duration.ofMillis(200));
        EasyCacheEngine updates = bench.node();
        updates.update(List.of(Workbench.cp().all()), () -> {
            database.set("new");
            rounds(1);
            bench.clock.advance(Epochs.MAX_AGE.minusMillis(100));
            stepsLeft.set(step);
            assertThat(read(key)).isEqualTo("new");
            return null;
        });
    }

    /** The new connection does not end the clearing, although the epochs that were read with it are unusable. */
    @Test
    void seesAClearingIfTheConnectionChangesAgainAndAgain() {
        CacheKey<String> key = Workbench.cp().key(1);
        assertThat(read(key)).isEqualTo("old");
        EasyCacheEngine updates = bench.node();
        updates.update(List.of(Workbench.cp().all()), () -> {
            database.set("new");
            bench.store.reconnect();
            afterReadsOfTheEpochs(bench.store::reconnect, bench.store::reconnect, bench.store::reconnect);
            assertThat(read(key)).isEqualTo("new");
            return null;
        });
    }

    /** Runs an action after each of the next reads of epochs. */
    private void afterReadsOfTheEpochs(Runnable... actions) {
        if (actions.length > 0) {
            bench.store.afterNext(Operation.EPOCHS, () -> {
                actions[0].run();
                afterReadsOfTheEpochs(Arrays.copyOfRange(actions, 1, actions.length));
            });
        }
    }
}
