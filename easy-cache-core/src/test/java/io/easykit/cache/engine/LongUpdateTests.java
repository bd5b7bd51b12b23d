package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.FaultyCacheStore;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Updates whose actions last longer than the lease of their marks, such as an import that commits through other services. */
class LongUpdateTests {

    private static final Duration LEASE = Workbench.ap().options().updateLease();
    private static final Duration HALF = LEASE.dividedBy(2);
    private static final String USERS = "users";

    private final Workbench bench = new Workbench();
    private final FaultyCacheStore users = new FaultyCacheStore(bench.clock::millis);
    private final EasyCacheEngine cache = node();
    private final EasyCacheEngine elsewhere = node();
    private final AtomicReference<String> database = new AtomicReference<>("old");
    private final CacheKey<String> cp = Workbench.cp().key(1);
    private final CacheKey<String> user =
            CacheSpec.of("user", String.class).withClusterId(USERS).key(1);

    private EasyCacheEngine node() {
        return bench.builder(new JacksonValueCodec()).store(USERS, users).buildStopped();
    }

    private static void tick(EasyCacheEngine node) {
        for (String cluster : List.of(CacheSpec.DEFAULT_CLUSTER, USERS)) {
            node.cluster(cluster).workers().forEach(RecoveryWorker::tick);
        }
    }

    /** The workers of the node that updates make their rounds meanwhile. */
    private void last(Duration time) {
        for (int round = 0; round < 10; round++) {
            bench.clock.advance(time.dividedBy(10));
            tick(cache);
        }
    }

    private String read(EasyCacheEngine node, CacheKey<String> key) {
        return node.fetch(key, database::get);
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void stayPreparedUntilTheirActionsEnd(Consistency consistency) {
        CacheKey<String> key = Workbench.spec(consistency).key("long");
        read(elsewhere, key);
        cache.update(List.of(key), () -> {
            last(LEASE.multipliedBy(2));
            assertThat(read(elsewhere, key)).isEqualTo("old");
            database.set("new");
            assertThat(read(elsewhere, key)).isEqualTo("new");
            last(LEASE.multipliedBy(2));
            assertThat(bench.store.parts(key)).contains("intents");
            assertThat(read(elsewhere, key)).isEqualTo("new");
            return null;
        });
        assertThat(bench.store.parts(key)).doesNotContain("intents");
        assertThat(read(elsewhere, key)).isEqualTo("new");
        assertThat(read(cache, key)).isEqualTo("new");
    }

    @Test
    void stayPreparedInAllClustersWithAllKeys() {
        List<CacheKey<String>> many = IntStream.range(0, 250)
                .mapToObj(
                        id -> id % 2 == 0 ? Workbench.cp().key(id) : user.spec().key(id))
                .toList();
        cache.update(many, () -> {
            last(LEASE.multipliedBy(3));
            for (CacheKey<String> key : many) {
                assertThat(store(key).parts(key)).as("%s", key).containsExactly("intents");
            }
            return null;
        });
        for (CacheKey<String> key : many) {
            assertThat(store(key).parts(key)).as("%s", key).isEmpty();
        }
    }

    @Test
    void renewWhatRedisAcceptsWhenItRefusesAKey() {
        List<CacheKey<String>> many = keys(300);
        cache.update(many, () -> {
            bench.store.refuse(many.get(0));
            last(LEASE.multipliedBy(2));
            assertThat(many.subList(Batches.SIZE, 300))
                    .allSatisfy(key -> assertThat(bench.store.parts(key)).containsExactly("intents"));
            return null;
        });
    }

    @Test
    void renewWhatTheOtherMastersHaveWhenOneIsAway() {
        bench.store.inParts(2);
        EasyCacheEngine node = node();
        List<CacheKey<String>> many = keys(300);
        node.update(many, () -> {
            bench.store.away(1);
            for (int half = 0; half < 4; half++) {
                bench.clock.advance(HALF);
                tick(node);
            }
            bench.store.back(1);
            assertThat(many.stream().filter(key -> bench.store.parts(key).contains("intents")))
                    .hasSizeGreaterThan(100);
            return null;
        });
    }

    private static List<CacheKey<String>> keys(int count) {
        return IntStream.range(0, count).mapToObj(id -> Workbench.ap().key(id)).toList();
    }

    private FaultyCacheStore store(CacheKey<?> key) {
        return key.spec().clusterId().equals(USERS) ? users : bench.store;
    }

    @Test
    void clearNothingBeforeTheirEnd() {
        CacheKey<String> entry = Workbench.ap().key(2);
        read(elsewhere, entry);
        cache.update(List.of(entry.spec().all(), user), () -> {
            for (int half = 0; half < 6; half++) {
                last(HALF);
                tick(elsewhere);
            }
            assertThat(bench.store.raised()).as("nothing is cleared too early").isEmpty();
            assertThat(users.parts(user)).containsExactly("intents");
            database.set("new");
            return null;
        });
        tick(elsewhere);
        assertThat(read(elsewhere, entry)).isEqualTo("new");
        last(PrefixClearing.REPAIR);
        assertThat(bench.store.clearing()).isEmpty();
        assertThat(users.parts(user)).isEmpty();
    }

    @Test
    void keepTheTimeoutOfTheirTransactionAsLease() {
        bench.transactions.setTimeout(LEASE.multipliedBy(4));
        bench.transactions.begin();
        cache.update(List.of(cp), () -> {
            bench.clock.advance(LEASE.multipliedBy(2));
            tick(cache);
            bench.clock.advance(LEASE.multipliedBy(3));
            assertThat(bench.store.parts(cp)).containsExactly("intents");
            return null;
        });
        bench.transactions.rollback();
    }

    @Test
    void stayPreparedWhenTheyAreAsynchronous() throws Exception {
        CompletableFuture<String> result = new CompletableFuture<>();
        CompletableFuture<Void> begun = new CompletableFuture<>();
        CompletableFuture<String> update = cache.async().update(List.of(cp), () -> {
            begun.complete(null);
            return result;
        });
        begun.get(10, TimeUnit.SECONDS);
        last(LEASE.multipliedBy(2));
        assertThat(bench.store.parts(cp)).containsExactly("intents");
        result.complete("done");
        assertThat(update.get(10, TimeUnit.SECONDS)).isEqualTo("done");
        assertThat(bench.store.parts(cp)).isEmpty();
    }

    @Test
    void goOnAndAreRenewedInTheNextRoundIfARenewalFails() {
        cache.update(List.of(cp), () -> {
            bench.store.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
            last(LEASE.multipliedBy(2));
            assertThat(bench.store.parts(cp)).containsExactly("intents");
            return null;
        });
        assertThat(bench.store.parts(cp)).isEmpty();
    }

    @Test
    void arePreparedAgainIfRedisHasLostTheirMarks() {
        cache.update(List.of(cp), () -> {
            bench.store.loseEverything();
            assertThat(read(elsewhere, cp)).isEqualTo("old");
            last(HALF);
            assertThat(bench.store.parts(cp)).containsExactly("intents");
            database.set("new");
            assertThat(read(elsewhere, cp)).isEqualTo("new");
            return null;
        });
        assertThat(read(elsewhere, cp)).isEqualTo("new");
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void leaveNoMarkIfARenewalWithoutReplyArrivesAfterTheirEnd(Fault fault) {
        AtomicReference<String> token = new AtomicReference<>();
        cache.update(List.of(cp), () -> {
            token.set(bench.store.inspect(cp).updates().get(0).token());
            bench.store.failNext(Operation.PREPARE, fault);
            last(HALF);
            return null;
        });
        bench.store.prepare(List.of(cp), token.get(), LEASE);
        last(MarkRenewals.LATE);
        assertThat(bench.store.parts(cp)).isEmpty();
    }

    @Test
    void leaveNoMarkAlthoughTheirFirstEndFails() {
        AtomicReference<String> token = new AtomicReference<>();
        bench.store.afterNext(Operation.INVALIDATE, () -> {
            throw new IllegalStateException("a defect");
        });
        assertThatThrownBy(() -> cache.update(List.of(cp), () -> {
                    token.set(bench.store.inspect(cp).updates().get(0).token());
                    bench.store.failNext(Operation.PREPARE, Fault.LOST_REPLY);
                    last(HALF);
                    return null;
                }))
                .hasMessage("a defect");
        last(Duration.ofSeconds(1));
        assertThat(cache.undelivered(CacheSpec.DEFAULT_CLUSTER)).isZero();
        bench.store.prepare(List.of(cp), token.get(), LEASE);
        last(MarkRenewals.LATE);
        assertThat(bench.store.parts(cp)).isEmpty();
    }

    @Test
    void waitAtTheirEndForARenewal() throws Exception {
        GatedLoader<String> action = new GatedLoader<>(() -> "done");
        Caller<String> update = Workbench.call(() -> cache.update(List.of(cp), action::load));
        action.awaitEntered();
        bench.clock.advance(HALF);
        Held renewal = bench.store.hold(Operation.PREPARE);
        Caller<Boolean> round = Workbench.call(() -> {
            tick(cache);
            return true;
        });
        renewal.awaitReached();
        action.letGo();
        update.awaitWaiting();
        assertThat(bench.store.count(Operation.INVALIDATE)).isZero();
        renewal.release();
        assertThat(round.result()).isTrue();
        assertThat(update.result()).isEqualTo("done");
        assertThat(bench.store.parts(cp)).isEmpty();
    }

    @Test
    void areRenewedOnceInHalfALease() {
        bench.store.inParts(3);
        EasyCacheEngine parted = node();
        parted.update(List.of(cp), () -> {
            bench.clock.advance(HALF.minusMillis(1));
            tick(parted);
            assertThat(bench.store.count(Operation.PREPARE)).isEqualTo(1);
            bench.clock.advance(Duration.ofMillis(1));
            tick(parted);
            assertThat(bench.store.count(Operation.PREPARE)).isEqualTo(2);
            return null;
        });
        bench.clock.advance(LEASE);
        tick(parted);
        assertThat(bench.store.count(Operation.PREPARE)).isEqualTo(2);
        assertThat(bench.store.count(Operation.INVALIDATE)).isEqualTo(1);
    }
}
