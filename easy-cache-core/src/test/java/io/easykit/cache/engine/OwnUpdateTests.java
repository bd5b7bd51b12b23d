package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.DegradedOptions.ApUpdates;
import io.easykit.cache.DegradedOptions.CpReads;
import io.easykit.cache.DegradedOptions.CpUpdates;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A node shows its own updates at once; the stale window is for the other nodes. */
class OwnUpdateTests {

    private static final DegradedOptions JOURNAL_OF_ONE =
            new DegradedOptions(Duration.ofSeconds(5), 32, CpReads.BYPASS, CpUpdates.REFUSE, ApUpdates.PROCEED, 1);

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final EasyCacheEngine elsewhere = bench.node();
    private final AtomicReference<String> database = new AtomicReference<>("old");
    private final CacheKey<String> key = Workbench.ap().key(1);

    private String read(EasyCacheEngine node) {
        return node.fetch(key, database::get);
    }

    private void update() {
        cache.update(List.of(key), () -> {
            database.set("new");
            return null;
        });
    }

    @Test
    void isSeenByItsNodeInsideTheWindow() {
        read(cache);
        update();
        assertThat(elsewhere.fetch(key, () -> "never")).isEqualTo("old");
        assertThat(read(cache)).isEqualTo("new");
        assertThat(elsewhere.fetch(key, () -> "never")).isEqualTo("new");
    }

    /** The reply of the store still has the old value. */
    @Test
    void isSeenAlthoughItsInvalidationIsDeliveredBetweenTheReplyAndItsUse() {
        AtomicReference<Runnable> atDecoding = new AtomicReference<>(() -> {});
        ValueCodec jackson = new JacksonValueCodec();
        EasyCacheEngine late = bench.node(new ValueCodec() {
            @Override
            public byte[] encode(Object value, Type type) {
                return jackson.encode(value, type);
            }

            @Override
            public Object decode(byte[] bytes, Type type) {
                atDecoding.get().run();
                return jackson.decode(bytes, type);
            }
        });
        read(late);
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        database.set("new");
        late.invalidate(key);
        assertThat(late.undelivered(CacheSpec.DEFAULT_CLUSTER)).isEqualTo(1);
        atDecoding.set(() -> late.cluster(CacheSpec.DEFAULT_CLUSTER).workers().forEach(RecoveryWorker::tick));

        assertThat(read(late)).isEqualTo("new");
    }

    /** Its work may be done already, while the others have the window. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isSeenByItsOwnActionWithoutATransaction(Consistency consistency) {
        CacheKey<String> own = Workbench.spec(consistency).key(1);
        CacheKey<String> view = Workbench.cp().key("view");
        cache.fetch(own, database::get);
        cache.update(List.of(own), () -> {
            database.set("new");
            assertThat(cache.fetch(own, database::get)).isEqualTo("new");
            assertThat(cache.fetch(view, () -> cache.fetch(own, database::get))).isEqualTo("new");
            cache.update(List.of(Workbench.ap().key("other")), () -> {
                assertThat(cache.fetch(own, database::get)).isEqualTo("new");
                return null;
            });
            assertThat(cache.fetch(own, database::get)).isEqualTo("new");
            return null;
        });
        assertThat(bench.store.parts(view)).doesNotContain("value");
        assertThat(cache.fetch(own, database::get)).isEqualTo("new");
        assertThat(cache.fetch(own, () -> "never")).isEqualTo("new");
    }

    @Test
    void endsWithItsActionThatFails() {
        IllegalStateException failure = new IllegalStateException("no database");
        assertThatThrownBy(() -> cache.update(List.of(key), () -> {
                    throw failure;
                }))
                .isSameAs(failure);
        read(cache);
        assertThat(cache.fetch(key, () -> "never")).isEqualTo("old");
    }

    @Test
    void isSeenByItsNodeAfterItsTransaction() {
        read(cache);
        bench.transactions.begin();
        cache.update(List.of(key), () -> null);
        assertThat(cache.fetch(key, () -> "uncommitted")).isEqualTo("uncommitted");
        bench.transactions.commit(() -> database.set("new"));
        assertThat(elsewhere.fetch(key, () -> "never")).isEqualTo("old");
        assertThat(read(cache)).isEqualTo("new");
    }

    @Test
    void isSeenByItsNodeWhenItWasAnInvalidation() {
        read(cache);
        database.set("new");
        cache.invalidate(key);
        assertThat(read(cache)).isEqualTo("new");
    }

    @Test
    void isSeenByItsNodeToTheEndOfTheWindow() {
        read(cache);
        update();
        Duration window = key.spec().options().effectiveStaleWindow();
        bench.clock.advance(window.minusMillis(1));
        assertThat(elsewhere.fetch(key, () -> "never")).isEqualTo("old");
        assertThat(read(cache)).isEqualTo("new");
    }

    @Test
    void letsAnotherNodesUpdateHaveItsWindowAgain() {
        read(cache);
        update();
        read(cache);
        bench.clock.advance(key.spec().options().effectiveStaleWindow().plusSeconds(2));
        elsewhere.invalidate(key);
        assertThat(cache.fetch(key, () -> "newer")).isEqualTo("new");
    }

    @Test
    void isSeenByItsNodeWhileAnEarlierLoadRuns() throws Exception {
        GatedLoader<String> slow = new GatedLoader<>(database::get);
        Caller<String> early = Workbench.call(() -> cache.fetch(key, slow));
        slow.awaitEntered();
        bench.clock.advance(Duration.ofMillis(1));
        update();
        bench.clock.advance(Duration.ofMillis(1));
        Caller<String> late = Workbench.call(() -> read(cache)).awaitWaiting();
        slow.letGo();
        assertThat(early.result()).isEqualTo("old");
        assertThat(late.result()).isEqualTo("new");
    }

    @Test
    void isSeenByItsNodeWhileAnEarlierLoadRunsWithoutTheStore() throws Exception {
        bench.store.away();
        GatedLoader<String> slow = new GatedLoader<>(database::get);
        Caller<String> early = Workbench.call(() -> cache.fetch(key, slow));
        slow.awaitEntered();
        bench.clock.advance(Duration.ofMillis(1));
        update();
        bench.clock.advance(Duration.ofMillis(1));
        Caller<String> late = Workbench.call(() -> read(cache)).awaitWaiting();
        slow.letGo();
        assertThat(early.result()).isEqualTo("old");
        assertThat(late.result()).isEqualTo("new");
        assertThat(read(cache)).isEqualTo("new");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isSeenByItsNodeWhileTheStoreHasNotHeardOfIt(Consistency consistency) {
        CacheKey<String> undelivered = Workbench.spec(consistency).key("untold");
        cache.fetch(undelivered, database::get);
        database.set("new");
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        cache.invalidate(undelivered);
        assertThat(elsewhere.fetch(undelivered, () -> "never")).isEqualTo("old");
        bench.clock.advance(Duration.ofMinutes(1));

        AtomicInteger loads = new AtomicInteger();
        for (int i = 1; i <= 3; i++) {
            assertThat(cache.fetch(undelivered, () -> database.get() + loads.incrementAndGet()))
                    .isEqualTo("new" + i);
        }
        cache.cluster("default").workers().get(0).tick();
        assertThat(cache.fetch(undelivered, () -> "delivered")).isEqualTo("delivered");
        assertThat(elsewhere.fetch(undelivered, () -> "never")).isEqualTo("delivered");
    }

    @Test
    void isSeenByItsNodeWhileAWholePrefixIsUndelivered() {
        EasyCacheEngine forgetful = bench.node(JOURNAL_OF_ONE);
        forgetful.fetch(key, database::get);
        database.set("new");
        bench.store.fail(Operation.INVALIDATE, Fault.LOST_REQUEST);
        forgetful.invalidate(List.of(key, Workbench.ap().key(2), Workbench.ap().key(3)));
        assertThat(elsewhere.fetch(key, () -> "never")).isEqualTo("old");
        bench.clock.advance(Duration.ofMinutes(1));
        assertThat(forgetful.fetch(key, database::get)).isEqualTo("new");
    }

    @Test
    void isSeenByItsNodeWhileItsEndIsBeingTold() throws Exception {
        read(cache);
        Held invalidation = bench.store.hold(Operation.INVALIDATE);
        Caller<Object> updating = Workbench.call(() -> {
            update();
            return "done";
        });
        invalidation.awaitReached();
        bench.clock.advance(Duration.ofMillis(1));
        assertThat(read(cache)).isEqualTo("new");
        invalidation.release();
        updating.result();
    }

    /** The store accepts the old value as long as it has not received the invalidation. */
    @ParameterizedTest
    @EnumSource(Reader.class)
    void isSeenByItsNodeAfterALateDeliveryAlthoughTheStoreHasAcceptedAnOlderLoad(Reader reader) throws Exception {
        GatedLoader<String> slow = new GatedLoader<>(database::get);
        GatedLoader<String> stored = new GatedLoader<>(() -> "");
        SlowLevel near = new SlowLevel();
        EasyCacheEngine node = bench.builder(new JacksonValueCodec())
                .nearLevels(() -> near)
                .listener(Workbench.pausing(key, stored))
                .buildStopped();
        CacheKey<String> nearKey = key.spec()
                .withOptions(key.spec().options().toBuilder()
                        .nearTtl(Duration.ofSeconds(1))
                        .build())
                .key(1);
        Caller<String> early = Workbench.call(() -> node.fetch(nearKey, slow));
        slow.awaitEntered();
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        database.set("new");
        node.invalidate(key);

        bench.clock.advance(Duration.ofMillis(1));
        Runnable delivery = () -> {
            bench.clock.advance(Duration.ofMillis(1));
            slow.letGo();
            stored.awaitEntered();
            bench.clock.advance(Duration.ofMillis(1));
            node.cluster(CacheSpec.DEFAULT_CLUSTER).workers().forEach(RecoveryWorker::tick);
        };
        if (reader == Reader.BEFORE_THE_STORE) {
            near.beforeGet = any -> {
                near.beforeGet = other -> {};
                delivery.run();
            };
        } else {
            delivery.run();
        }
        Caller<String> late = Workbench.call(() -> node.fetch(nearKey, database::get));
        Awaitility.await()
                .until(() -> late.isDone() || (node.undelivered(CacheSpec.DEFAULT_CLUSTER) == 0 && late.isWaiting()));
        stored.letGo();

        assertThat(early.result()).isEqualTo("old");
        assertThat(late.result()).isEqualTo("new");
    }

    private enum Reader {
        /** It comes before the store of the older load, and looks for the value after the delivery. */
        BEFORE_THE_STORE,
        AFTER_THE_DELIVERY
    }

    /** A read-modify-write through the cache must not bring an old value back. */
    @Test
    void carriesAllOfManyUpdatesInARow() {
        AtomicInteger counter = new AtomicInteger();
        CacheKey<Integer> counts = CacheSpec.<Integer>of("count", Integer.class)
                .withOptions(key.spec().options())
                .key(1);
        for (int i = 0; i < 50; i++) {
            int seen = cache.fetch(counts, counter::get);
            cache.update(List.of(counts), () -> {
                counter.set(seen + 1);
                return null;
            });
            bench.background.runAll();
        }
        assertThat(counter).hasValue(50);
    }

    @Test
    void isNotForgottenHoweverManyFollow() {
        read(cache);
        update();
        for (int batch = 0; batch < 20; batch++) {
            cache.invalidate(IntStream.range(1_000 * batch, 1_000 * (batch + 1))
                    .mapToObj(id -> Workbench.ap().key("other", id))
                    .toList());
            bench.events.next();
        }
        assertThat(read(cache)).isEqualTo("new");
    }
}
