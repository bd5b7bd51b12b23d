package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.Consistency;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.FaultyCacheStore;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A view in one Redis is computed from a user in another one, and one update names both. */
class SeveralClustersTests {

    private static final int PROBES = CircuitBreakerOptions.defaults().probesToRecover();
    private static final String USERS = "users";

    private final Workbench bench = new Workbench();
    private final FaultyCacheStore users = new FaultyCacheStore(bench.clock::millis);
    private final EasyCacheEngine a = node();
    private final EasyCacheEngine b = node();
    private final AtomicReference<String> database = new AtomicReference<>("old");

    private EasyCacheEngine node() {
        return bench.builder(new JacksonValueCodec()).store(USERS, users).buildStopped();
    }

    private static CacheKey<String> view(Consistency consistency) {
        return Workbench.spec(consistency).key("view");
    }

    private static CacheKey<String> user(Consistency consistency) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        return CacheSpec.of("user", String.class)
                .withOptions(spec.options())
                .withClusterId(USERS)
                .key("user");
    }

    private String readView(EasyCacheEngine node, Consistency consistency) {
        return node.fetch(view(consistency), () -> "view of " + node.fetch(user(consistency), database::get));
    }

    private static void tick(EasyCacheEngine node, String cluster, int times) {
        for (int i = 0; i < times; i++) {
            Objects.requireNonNull(node.cluster(cluster)).workers().get(0).tick();
        }
    }

    private void update(Consistency consistency) {
        a.update(List.of(view(consistency), user(consistency)), () -> {
            database.set("new");
            return null;
        });
    }

    private void recordUpdates(List<String> order) {
        record(bench.store, Operation.PREPARE, order, "prepare");
        record(users, Operation.PREPARE, order, "prepare");
        record(bench.store, Operation.INVALIDATE, order, "invalidate");
        record(users, Operation.INVALIDATE, order, "invalidate");
    }

    private static void record(FaultyCacheStore store, Operation operation, List<String> order, String name) {
        store.onNext(operation, () -> {
            order.add(name);
            record(store, operation, order, name);
        });
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void allKeysArePreparedBeforeTheFirstIsInvalidated(Consistency consistency) {
        List<String> order = new ArrayList<>();
        recordUpdates(order);
        update(consistency);
        assertThat(order).containsExactly("prepare", "prepare", "invalidate", "invalidate");

        order.clear();
        a.invalidate(List.of(view(consistency), user(consistency)));
        assertThat(order).containsExactly("prepare", "prepare", "invalidate", "invalidate");

        order.clear();
        bench.transactions.begin();
        a.updateInTransaction(List.of(view(consistency)), () -> null);
        a.updateInTransaction(List.of(user(consistency)), () -> null);
        bench.transactions.commit(() -> order.add("commit"));
        assertThat(order).containsExactly("prepare", "prepare", "commit", "invalidate", "invalidate");
    }

    @Test
    void theClustersAreInvalidatedInTheOrderOfTheKeys() {
        List<CacheKey<?>> keys = List.of(view(Consistency.AP), user(Consistency.AP));
        List<String> order = new ArrayList<>();
        record(bench.store, Operation.INVALIDATE, order, "view");
        record(users, Operation.INVALIDATE, order, "user");

        a.invalidate(keys);
        a.invalidate(List.of(keys.get(1), keys.get(0)));

        assertThat(order).containsExactly("view", "user", "user", "view");
    }

    /** The user was not prepared, so the view is computed from the old one, and stored, between the two invalidations. */
    @Test
    void noReaderOfTheNodeJoinsALoadOfTheViewFromBetweenTheInvalidations() throws Exception {
        CacheKey<String> view = view(Consistency.AP);
        GatedLoader<String> stored = new GatedLoader<>(() -> "");
        EasyCacheEngine node = bench.builder(new JacksonValueCodec())
                .store(USERS, users)
                .listener(Workbench.pausing(view, stored))
                .buildStopped();
        node.fetch(user(Consistency.AP), database::get);
        GatedLoader<String> slow =
                new GatedLoader<>(() -> "view of " + node.fetch(user(Consistency.AP), database::get));
        List<Caller<String>> between = new ArrayList<>();
        users.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
        bench.store.afterNext(Operation.INVALIDATE, () -> {
            between.add(Workbench.call(() -> node.fetch(view, slow)));
            slow.awaitEntered();
        });
        users.onNext(Operation.INVALIDATE, () -> {
            bench.clock.advance(Duration.ofMillis(1));
            slow.letGo();
            stored.awaitEntered();
            bench.clock.advance(Duration.ofMillis(1));
        });
        node.update(List.of(view, user(Consistency.AP)), () -> {
            database.set("new");
            return null;
        });

        Caller<String> late =
                Workbench.call(() -> readView(node, Consistency.AP)).awaitWaiting();
        stored.letGo();
        assertThat(between.get(0).result()).isEqualTo("view of old");
        assertThat(late.result()).isEqualTo("view of new");
    }

    /** The user is invalidated late. Another node computes the view from the old one meanwhile, and stores it. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void theViewIsInvalidatedAgainWithAUserThatIsLate(Consistency consistency) {
        readView(b, consistency);
        users.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
        users.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        database.set("new");
        a.invalidate(List.of(view(consistency), user(consistency)));
        bench.clock.advance(
                consistency.equals(Consistency.AP)
                        ? view(consistency).spec().options().staleWindow()
                        : Duration.ZERO);
        assertThat(readView(b, consistency)).isEqualTo("view of old");

        tick(a, USERS, 1);

        assertThat(readView(b, consistency)).isEqualTo("view of new");
        assertThat(readView(a, consistency)).isEqualTo("view of new");
    }

    /** A recovery of the other Redis may come first. */
    @Test
    void theViewIsCorrectWhicheverRedisRecoversFirst() {
        for (boolean usersFirst : List.of(true, false)) {
            database.set("old");
            a.invalidate(List.of(view(Consistency.AP), user(Consistency.AP)));
            bench.clock.advance(Duration.ofSeconds(10));
            readView(b, Consistency.AP);
            cutOff(bench.store, Workbench.ap());
            cutOff(users, user(Consistency.AP).spec());
            update(Consistency.AP);
            bench.store.back();
            users.back();
            assertThat(b.fetch(user(Consistency.AP), () -> "never")).isEqualTo("old");

            tick(a, usersFirst ? USERS : CacheSpec.DEFAULT_CLUSTER, PROBES);
            readView(b, Consistency.AP);
            tick(a, usersFirst ? CacheSpec.DEFAULT_CLUSTER : USERS, PROBES);
            tick(a, usersFirst ? USERS : CacheSpec.DEFAULT_CLUSTER, 1);

            assertThat(readView(b, Consistency.AP))
                    .as("users first: %s", usersFirst)
                    .isEqualTo("view of new");
            assertThat(a.undelivered(USERS)).isZero();
            assertThat(a.undelivered(CacheSpec.DEFAULT_CLUSTER)).isZero();
        }
    }

    private void cutOff(FaultyCacheStore store, CacheSpec<String> spec) {
        store.away();
        for (int i = 0; i < 10; i++) {
            a.fetch(spec.key("any" + i), () -> "any");
        }
    }

    /** The promoted replica of the users has the old one, from which another node computes the view. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void theViewIsInvalidatedAgainAfterAFailOverOfTheOtherRedis(Consistency consistency) {
        readView(b, consistency);
        Runnable promote = users.replica();
        update(consistency);
        bench.clock.advance(Duration.ofSeconds(10));
        promote.run();
        assertThat(readView(b, consistency)).isEqualTo("view of old");

        users.reconnect();
        tick(a, USERS, 1);

        assertThat(readView(b, consistency)).isEqualTo("view of new");
    }

    /** While the late user is delivered, the view can be loaded and not stored. */
    @Test
    void theViewIsNotStoredWhileTheLateUserIsDelivered() {
        readView(b, Consistency.CP);
        users.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        users.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
        database.set("new");
        a.invalidate(List.of(view(Consistency.CP), user(Consistency.CP)));
        users.onNext(Operation.DROP, () -> {
            readView(b, Consistency.CP);
            assertThat(bench.store.parts(view(Consistency.CP))).doesNotContain("value");
        });

        tick(a, USERS, 1);

        assertThat(readView(b, Consistency.CP)).isEqualTo("view of new");
    }

    @Test
    void aCpUpdateIsRefusedBeforeAnythingIsSentIfOneOfThemIsAway() {
        readView(b, Consistency.CP);
        cutOff(users, user(Consistency.AP).spec());
        int prepared = bench.store.count(Operation.PREPARE);

        assertThatThrownBy(() -> update(Consistency.CP)).isInstanceOf(CacheUnavailableException.class);

        assertThat(database).hasValue("old");
        assertThat(bench.store.count(Operation.PREPARE)).isEqualTo(prepared);
        assertThat(bench.store.parts(view(Consistency.CP))).contains("value");
    }
}
