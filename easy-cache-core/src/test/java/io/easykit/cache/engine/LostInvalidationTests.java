package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CachedValue;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.Consistency;
import io.easykit.cache.Outcome;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.admin.EntryExplanation;
import io.easykit.cache.admin.EntryExplanation.State;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A replica without the latest invalidations was promoted, and the node connects to it before its circuit breaker opens. */
class LostInvalidationTests extends TwoNodes {

    /** Longer than the stale window: what the store returns then is not stale for it. */
    private static final Duration LATER = Duration.ofSeconds(10);

    private final AtomicReference<String> database = new AtomicReference<>("old");

    @BeforeEach
    void answerAsynchronousCalls() {
        bench.store.answeringLater();
    }

    private EasyCacheEngine inParts(int count) {
        bench.store.inParts(count);
        EasyCacheEngine node = bench.node();
        tick(node, 1);
        return node;
    }

    private enum Call {
        FETCH {
            @Override
            String read(EasyCacheEngine node, CacheKey<String> key, AtomicReference<String> database) {
                return node.fetch(key, database::get);
            }
        },
        ASYNC {
            @Override
            String read(EasyCacheEngine node, CacheKey<String> key, AtomicReference<String> database) {
                return node.async()
                        .fetch(key, () -> CompletableFuture.completedFuture(database.get()))
                        .join();
            }
        },
        BATCH {
            @Override
            String read(EasyCacheEngine node, CacheKey<String> key, AtomicReference<String> database) {
                return node.<Integer, String, RuntimeException>fetchAll(
                                key.spec(), List.of(1, 2), missing -> valuesFor(missing, database.get()))
                        .get(1);
            }
        },
        PEEK {
            @Override
            String read(EasyCacheEngine node, CacheKey<String> key, AtomicReference<String> database) {
                CachedValue<String> cached = node.peek(key);
                return cached == null ? database.get() : cached.value();
            }
        };

        abstract String read(EasyCacheEngine node, CacheKey<String> key, AtomicReference<String> database);
    }

    private static Map<Integer, String> valuesFor(Collection<Integer> ids, String value) {
        Map<Integer, String> values = new HashMap<>();
        ids.forEach(id -> values.put(id, value));
        return values;
    }

    private void update(EasyCacheEngine node, CacheKey<String> updated) {
        node.update(List.of(updated), () -> {
            database.set("new");
            return null;
        });
    }

    /** The update is acknowledged by a master whose replica never receives it. */
    private Runnable updateThatGetsLost(CacheKey<String> updated) {
        return updateThatGetsLost(a, updated);
    }

    private Runnable updateThatGetsLost(EasyCacheEngine node, CacheKey<String> updated) {
        node.fetch(updated, database::get);
        Runnable promote = bench.store.replica();
        update(node, updated);
        bench.clock.advance(LATER);
        return promote;
    }

    @ParameterizedTest
    @EnumSource(Call.class)
    void areNotMissedByTheirOwnNodeBeforeTheyAreRepeated(Call call) {
        for (Consistency consistency : Consistency.values()) {
            database.set("old");
            CacheKey<String> own = Workbench.spec(consistency).key(1);
            updateThatGetsLost(own).run();
            bench.store.reconnect();

            assertThat(call.read(a, own, database)).as("%s", consistency).isEqualTo("new");

            bench.store.failNext(Operation.DROP, Fault.LOST_REQUEST);
            tick(a, 1);
            assertThat(call.read(a, own, database))
                    .as("after a failed repetition")
                    .isEqualTo("new");

            tick(a, 1);
            assertThat(call.read(a, own, database)).isEqualTo("new");
            assertThat(b.fetch(own, database::get)).isEqualTo("new");
        }
    }

    @Test
    void areExplainedUntilTheyAreRepeated() {
        updateThatGetsLost(key).run();
        assertThat(a.admin().explain(key).state()).isEqualTo(State.FRESH);
        bench.store.reconnect();

        EntryExplanation told = a.admin().explain(key);

        assertThat(told.state()).isEqualTo(State.WITHHELD);
        assertThat(told.nextRead()).isEqualTo(Outcome.SUCCESS);
        assertThat(told.sentences().get(0))
                .contains("new connection to Redis")
                .endsWith("readers on this node get no stored value and load for themselves.");
        assertThat(told.sentences().get(1)).isEqualTo("For readers on other nodes the following holds.");
        assertThat(told.sentences().get(2)).startsWith("Readers get the value.");
        assertThat(a.admin().explain(Workbench.ap().key(2)).state())
                .as("an entry that this node has not updated")
                .isEqualTo(State.ABSENT);
        assertThat(b.admin().explain(key).state()).as("another node").isEqualTo(State.FRESH);

        tick(a, 1);
        assertThat(a.admin().explain(key).state()).isNotIn(State.WITHHELD, State.FRESH);
    }

    @ParameterizedTest
    @EnumSource(Call.class)
    void areNotMissedByAReadWhoseReplyIsUsedAfterTheRepetition(Call call) {
        updateThatGetsLost(key).run();
        Operation operation = call == Call.PEEK ? Operation.PEEK : Operation.READ;
        bench.store.afterNext(operation, () -> {
            bench.store.reconnect();
            tick(a, 1);
        });

        assertThat(call.read(a, key, database)).isEqualTo("new");
    }

    /** As above, and the reconnection is over when the command is sent, but the repetition is not. */
    @Test
    void areNotMissedByAReadThatIsOvertakenByTheRepetitionOnly() {
        updateThatGetsLost(key).run();
        bench.store.reconnect();
        bench.store.afterNext(Operation.READ, () -> tick(a, 1));

        assertThat(a.fetch(key, database::get)).isEqualTo("new");
    }

    @Test
    void areNotMissedByAFetchThatIsOvertaken() {
        Runnable promote = updateThatGetsLost(key);
        bench.store.afterNext(Operation.READ, promote);
        bench.store.afterNext(Operation.FETCH, () -> {
            bench.store.reconnect();
            tick(a, 1);
        });

        assertThat(a.fetch(key, database::get)).isEqualTo("new");
    }

    /** The promoted server has the fencing token that the update has removed, and accepts the value. */
    @Test
    void areNotMissedByReadersOfALoadThatBeganBefore() throws Exception {
        GatedLoader<String> loader = new GatedLoader<>(database::get);
        Caller<String> before = Workbench.call(() -> a.fetch(key, loader));
        loader.awaitEntered();
        Runnable promote = bench.store.replica();
        bench.clock.advance(Duration.ofMillis(1));
        update(a, key);
        bench.clock.advance(Duration.ofMillis(1));
        Caller<String> after = Workbench.call(() -> a.fetch(key, database::get)).awaitWaiting();

        promote.run();
        bench.store.reconnect();
        loader.letGo();

        assertThat(before.result()).isEqualTo("old");
        assertThat(after.result()).isEqualTo("new");
        tick(a, 1);
        assertThat(b.fetch(key, database::get)).isEqualTo("new");
    }

    /** The node knows the epoch that the promoted server lacks, and raises it again. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void areNotMissedIfTheyClearedACache(Consistency consistency) {
        CacheSpec<String> cleared = Workbench.spec(consistency);
        a.fetch(cleared.key(1), database::get);
        Runnable promote = bench.store.replica();
        database.set("new");
        a.invalidateAll(cleared);
        bench.clock.advance(LATER);
        promote.run();
        bench.store.loseEpochs();
        bench.store.reconnect();

        assertThat(a.fetch(cleared.key(1), database::get)).isEqualTo("new");
        tick(a, 1);
        tick(b, 1);
        assertThat(b.fetch(cleared.key(1), database::get)).isEqualTo("new");
    }

    @Test
    void areNoExpiredValuesForReadersWhoseLoadFails() {
        CacheSpec<String> kept = Workbench.ap()
                .withOptions(CacheOptions.builder()
                        .ttl(Duration.ofSeconds(5))
                        .ttlJitter(0)
                        .staleOnError(StaleOnErrorOptions.keptFor(Duration.ofMinutes(1)))
                        .build());
        updateThatGetsLost(kept.key(1)).run();
        bench.store.reconnect();

        assertThatThrownBy(() -> a.fetch(kept.key(1), () -> {
                    throw new IllegalStateException("no database");
                }))
                .hasMessage("no database");
    }

    /** The acknowledgement of the former master arrives, then the fail-over is over before the thread goes on. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void areRepeatedAlthoughTheirThreadIsSlow(Consistency consistency) {
        CacheKey<String> slow = Workbench.spec(consistency).key(1);
        a.fetch(slow, database::get);
        Runnable promote = bench.store.replica();
        bench.store.afterNext(Operation.INVALIDATE, () -> {
            promote.run();
            bench.store.reconnect();
            tick(a, 1);
        });

        update(a, slow);

        bench.clock.advance(LATER);
        assertThat(b.fetch(slow, database::get)).isEqualTo("new");
        assertThat(a.fetch(slow, database::get)).isEqualTo("new");
    }

    @Test
    void keepOtherEntriesAndOlderUpdatesFromNoReader() {
        CacheKey<String> other = Workbench.ap().key(2);
        a.fetch(other, () -> "kept");
        a.update(List.of(key), () -> null);
        bench.clock.advance(KEEP_RECENT.plusSeconds(1));
        tick(a, 1);
        a.fetch(key, () -> "kept");

        bench.store.reconnect();

        assertThat(a.fetch(other, () -> "never")).isEqualTo("kept");
        assertThat(a.fetch(key, () -> "never")).isEqualTo("kept");
    }

    @Test
    void concernOneMasterOnly() {
        EasyCacheEngine node = inParts(3);
        CacheKey<String> elsewhere = Workbench.ap().key(3);
        Runnable promote = updateThatGetsLost(node, key);
        update(node, elsewhere);
        cluster(node).workers().forEach(RecoveryWorker::tick);
        bench.clock.advance(LATER);
        promote.run();
        node.fetch(elsewhere, () -> "kept");

        RecoveryWorker worker = cluster(node).workers().get(1);
        assertThat(worker.isReconnected(null)).isTrue();
        worker.lookSoon();

        assertThat(node.fetch(key, database::get)).isEqualTo("new");
        assertThat(node.fetch(elsewhere, () -> "never")).isEqualTo("kept");
    }

    /** The first rounds of the new partitions have not come yet. */
    @Test
    void areNotMissedBetweenNewPartitionsAndTheirFirstRound() {
        EasyCacheEngine node = inParts(3);
        Runnable promote = updateThatGetsLost(node, key);
        bench.store.repartition(2);
        promote.run();
        tick(node, 1);

        assertThat(node.fetch(key, database::get)).isEqualTo("new");
    }

    /** A line that breaks again and again is no reason to drop the same values each time. */
    @Test
    void areRepeatedAtMostThreeTimesInThreeSeconds() {
        AtomicInteger loads = new AtomicInteger();
        a.update(List.of(key), () -> null);
        for (int i = 0; i < 100; i++) {
            bench.store.reconnect();
            tick(a, 1);
            b.fetch(key, () -> "load " + loads.incrementAndGet());
        }
        assertThat(loads).hasValue(Repetition.MOST);
        assertThat(bench.store.count(Operation.DROP)).isEqualTo(Repetition.MOST);
        assertThat(a.fetch(key, () -> "own load")).isEqualTo("own load");

        bench.clock.advance(Repetition.SPAN);
        tick(a, 1);
        assertThat(bench.store.count(Operation.DROP)).isEqualTo(Repetition.MOST + 1);
        b.fetch(key, () -> "value");
        assertThat(a.fetch(key, () -> "never")).isEqualTo("value");
    }

    /** The line breaks before the last repetition is forgotten, and leads to the same server each time. */
    @Test
    void areNotRepeatedForEver() {
        AtomicInteger loads = new AtomicInteger();
        a.update(List.of(key), () -> null);
        breakTenTimes(loads);
        int before = loads.get();
        breakTenTimes(loads);

        assertThat(before).as("as long as another server may lack it").isGreaterThan(5);
        assertThat(loads).hasValue(before);
    }

    private void breakTenTimes(AtomicInteger loads) {
        for (int i = 0; i < 10; i++) {
            bench.clock.advance(Duration.ofSeconds(24));
            tick(a, 1);
            bench.clock.advance(Duration.ofSeconds(1));
            bench.store.reconnect();
            tick(a, 1);
            b.fetch(key, () -> "load " + loads.incrementAndGet());
        }
    }

    /** New connections before there is anything to repeat do not hold up the first repetition. */
    @Test
    void areRepeatedAtOnceAfterALineThatBrokeOften() {
        for (int i = 0; i < 10; i++) {
            bench.store.reconnect();
            tick(a, 1);
        }
        updateThatGetsLost(key).run();
        bench.store.reconnect();
        tick(a, 1);
        assertThat(b.fetch(key, database::get)).isEqualTo("new");
    }

    /** A promoted server may refuse writes for a moment. Here the rounds of the worker repeat nothing, since they fail before. */
    @Test
    void areRepeatedWithoutWaitingForARoundAfterARepetitionThatFailed() {
        bench.store.fail(Operation.EPOCHS, Fault.LOST_REQUEST);
        EasyCacheEngine running = bench.builder(new JacksonValueCodec())
                .circuitBreaker(new CircuitBreakerOptions(Duration.ofSeconds(10), 1, 1000, Duration.ofSeconds(1), 1000))
                .build();
        try {
            running.invalidate(key);
            bench.store.failNext(Operation.DROP, Fault.LOST_REQUEST);

            bench.store.reconnect();

            await().until(() -> bench.store.count(Operation.DROP) > 1);
        } finally {
            running.stop();
        }
    }
}
