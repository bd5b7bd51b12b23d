package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.FaultyCacheStore;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * An update in a callback after a commit, of an entry and of another one that is computed from it. Its work is committed when its
 * marks are over. Another node reads the computed entry all the time.
 */
class LateSiblingsTests {

    private static final String USERS = "users";
    private static final CacheSpec<String> SOURCE = CacheSpec.of("source", String.class);
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Workbench bench = new Workbench();
    private final FaultyCacheStore users = new FaultyCacheStore(bench.clock::millis);
    private EasyCacheEngine node = node();
    private EasyCacheEngine reader = node();
    private CacheKey<String> view = Workbench.ap().key(0);
    private CacheKey<String> user = user(Consistency.AP);
    private String data = "old";

    enum Place {
        TWO_REDIS,
        TWO_MASTERS
    }

    /** The workers of the two Redis run at different times. */
    enum Order {
        VIEW_FIRST,
        USER_FIRST,
        VIEW_ONLY,
        USER_ONLY
    }

    static Stream<Arguments> ends() {
        return Stream.of(Place.values())
                .flatMap(place -> Stream.of(Consistency.values()).flatMap(consistency -> Stream.of(Order.values())
                        .filter(order -> place == Place.TWO_REDIS || order == Order.VIEW_FIRST)
                        .map(order -> Arguments.of(place, consistency, order))));
    }

    @ParameterizedTest
    @MethodSource("ends")
    void noValueIsComputedBetweenTheEnds(Place place, Consistency consistency, Order order) {
        use(place, consistency);
        node.update(keys(), () -> "not committed");
        outlastTheMarks();

        commit();
        end(order);

        assertNew();
    }

    @ParameterizedTest
    @MethodSource("ends")
    void valuesThatAreComputedBetweenTheEndsAreDroppedIfNothingCanBePrepared(
            Place place, Consistency consistency, Order order) {
        use(place, consistency);
        node.update(keys(), () -> "not committed");
        outlastTheMarks();
        bench.store.fail(Operation.PREPARE, Fault.LOST_REQUEST);
        users.fail(Operation.PREPARE, Fault.LOST_REQUEST);

        commit();
        end(order);

        assertNew();
    }

    @ParameterizedTest
    @EnumSource(Order.class)
    void anUpdateWhoseMarkWasLostAlsoEndsAsAWhole(Order order) {
        use(Place.TWO_REDIS, Consistency.AP);
        users.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
        node.update(keys(), () -> "not committed");
        pass(SECOND.multipliedBy(2));
        assertThat(read()).isEqualTo("view of old");

        commit();
        end(order);

        assertNew();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.MATCH_ALL, names = ".*_ONLY")
    void aValueThatIsComputedBeforeALostEndIsDeliveredIsDroppedWithIt(Order order) {
        use(Place.TWO_REDIS, Consistency.AP);
        node.update(keys(), () -> "not committed");
        outlastTheMarks();
        users.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
        users.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);

        commit();
        end(order);
        assertThat(node.undelivered(USERS)).isPositive();
        String unused = read();
        pass(SECOND);
        tick(node, USERS);

        assertNew();
    }

    /** An entry of the update is computed from an older value of the cleared cache before this node has read the epochs. */
    @Test
    void theSecondEndAfterAClearingIsThatOfTheWholeUpdate() {
        CacheOptions options = CacheOptions.builder().staleWindow(Duration.ZERO).build();
        view = view.spec().withOptions(options).key(0);
        user = user.spec().withOptions(options).key(1);
        String unused = readFromSource();
        users.fail(Operation.PREPARE, Fault.LOST_REQUEST);
        node.update(List.of(SOURCE.all(), view, user), () -> data = "new");
        assertThat(readFromSource()).isEqualTo("view of old");
        pass(Epochs.SEEN_BY_ALL.plus(SECOND));

        tick(node, CacheSpec.DEFAULT_CLUSTER);
        unused = readFromSource();
        tick(node, USERS);

        assertThat(readFromSource()).isEqualTo("view of new");
    }

    /** This node does not reach the Redis of the cleared cache, and the other one does. */
    @ParameterizedTest
    @ValueSource(strings = {CacheSpec.DEFAULT_CLUSTER, USERS})
    void valuesThatAreComputedInALongOutageOfAClearingAreDroppedAfterIt(String cluster) {
        CacheOptions options = CacheOptions.builder()
                .ttl(Duration.ofHours(1))
                .staleWindow(Duration.ZERO)
                .build();
        CacheKey<String> source = SOURCE.withOptions(options).key(1);
        view = view.spec().withOptions(options).withClusterId(cluster).key(0);
        assertThat(readFrom(source)).isEqualTo("view of old");
        bench.store.fail(Operation.PREPARE_CLEAR, Fault.LOST_REQUEST);
        bench.store.fail(Operation.RAISE_EPOCH, Fault.LOST_REQUEST);
        node.update(List.of(source.spec().all(), view), () -> data = "new");
        for (int minute = 0; minute <= LateCommits.LONGEST.toMinutes(); minute++) {
            pass(Duration.ofMinutes(1));
            tickAll(node);
            assertThat(readFrom(source)).isEqualTo("view of old");
        }
        bench.store.back();
        passAndTick(Duration.ofSeconds(10));

        assertThat(readFrom(source)).isEqualTo("view of new");
    }

    /** This node does not reach the Redis of the entry from which the cleared ones are computed, and the other one does. */
    @Test
    void clearedValuesThatAreComputedInALongOutageOfAnEntryAreDroppedAfterIt() {
        useLongTtl();
        assertThat(read()).isEqualTo("view of old");
        failUpdatesOfUsers();
        node.update(List.of(user, view.spec().all()), () -> data = "new");
        for (int minute = 0; minute < 2 * LateCommits.LONGEST.toMinutes(); minute++) {
            pass(Duration.ofMinutes(1));
            tickAll(node);
            assertThat(read()).isEqualTo("view of old");
        }
        users.back();
        passAndTick(Duration.ofSeconds(10));

        assertThat(read()).isEqualTo("view of new");
    }

    /** Only this node may not write the entry. */
    @Test
    void clearedValuesAreDroppedAfterAnEntryThatWasRefused() {
        useLongTtl();
        assertThat(read()).isEqualTo("view of old");
        for (int times = 0; times < 2; times++) {
            users.refuse(user);
            node.update(List.of(user, view.spec().all()), () -> data = "new");
            passAndTick(Duration.ofSeconds(10));
            assertThat(node.undelivered(USERS)).isOne();
            users.allow(user);
            assertThat(read()).isEqualTo("view of old");
        }
        passAndTick(Redelivery.REFUSED_AGAIN_AFTER.plusSeconds(10));

        assertThat(node.undelivered(USERS)).isZero();
        assertThat(read()).isEqualTo("view of new");
        int before = bench.store.count(Operation.RAISE_EPOCH);
        passAndTick(Duration.ofMinutes(1));
        assertThat(bench.store.count(Operation.RAISE_EPOCH)).isEqualTo(before);
    }

    /** The entries of their caches are dropped instead. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void moreUpdatesThanCanBeKeptEndWithEpochs(boolean clearsUsers) {
        useLongTtl();
        DegradedOptions defaults = DegradedOptions.defaults();
        node = bench.builder(new JacksonValueCodec())
                .store(USERS, users)
                .degraded(new DegradedOptions(
                        defaults.localTtl(),
                        defaults.concurrentLoads(),
                        defaults.cpReads(),
                        defaults.cpUpdates(),
                        defaults.apUpdates(),
                        2))
                .buildStopped();
        tickAll(node);
        assertThat(read()).isEqualTo("view of old");
        failUpdatesOfUsers();
        List<CacheKey<?>> update = clearsUsers
                ? List.of(user.spec().all(), view)
                : List.of(user, view.spec().all());
        for (int updates = 0; updates < 3; updates++) {
            node.update(update, () -> data = "new");
        }
        passAndTick(Duration.ofSeconds(10));
        assertThat(read()).isEqualTo("view of old");
        int raised = bench.store.count(Operation.RAISE_EPOCH);
        passAndTick(Duration.ofSeconds(10));
        assertThat(bench.store.count(Operation.RAISE_EPOCH)).isEqualTo(raised);
        users.back();

        try (LogCapture log = LogCapture.of(EpochUpkeep.class)) {
            passAndTick(Duration.ofSeconds(10));
            assertThat(log.warnings())
                    .anySatisfy(line -> assertThat(line).contains("All entries of [name] are dropped, too"));
        }

        assertThat(read()).isEqualTo("view of new");
    }

    private void useLongTtl() {
        CacheOptions options = CacheOptions.builder()
                .ttl(Duration.ofHours(1))
                .staleWindow(Duration.ZERO)
                .build();
        view = view.spec().withOptions(options).key(0);
        user = user.spec().withOptions(options).key(1);
    }

    private void failUpdatesOfUsers() {
        Stream.of(
                        Operation.PREPARE,
                        Operation.PREPARE_CLEAR,
                        Operation.INVALIDATE,
                        Operation.DROP,
                        Operation.RAISE_EPOCH)
                .forEach(operation -> users.fail(operation, Fault.LOST_REQUEST));
    }

    private void passAndTick(Duration time) {
        for (int second = 0; second < time.toSeconds(); second++) {
            tickAll(node);
            pass(SECOND);
        }
    }

    /** A defect in the half of the first Redis. */
    @Test
    void theOtherHalfOfAnUpdateEndsAlthoughOneFails() {
        view = Workbench.cp().key(0);
        user = user(Consistency.CP);
        assertThat(read()).isEqualTo("view of old");
        bench.store.afterNext(Operation.INVALIDATE, LateSiblingsTests::fail);

        assertThatThrownBy(() -> node.update(keys(), () -> data = "new")).hasMessage("a defect");

        assertThat(users.parts(user)).isEmpty();
    }

    @Test
    void theOtherMasterIsInvalidatedAlthoughOneFails() {
        use(Place.TWO_MASTERS, Consistency.CP);
        bench.transactions.giveBackConnection();
        assertThat(read()).isEqualTo("view of old");
        bench.store.afterNext(Operation.INVALIDATE, LateSiblingsTests::fail);

        assertThatThrownBy(() -> node.update(keys(), () -> data = "new")).hasMessage("a defect");

        assertThat(bench.store.parts(user)).isEmpty();
    }

    @Test
    void theOtherHalfOfALateEndIsMadeAlthoughOneFails() {
        use(Place.TWO_REDIS, Consistency.CP);
        node.update(keys(), () -> "not committed");
        bench.transactions.giveBackConnection();
        bench.store.afterNext(Operation.INVALIDATE, LateSiblingsTests::fail);

        tick(node, CacheSpec.DEFAULT_CLUSTER);

        assertThat(users.parts(user)).isEmpty();
    }

    /** A defect in the preparation, of an invalidation without a transaction. */
    @Test
    void allKeysAreInvalidatedAlthoughTheirPreparationFails() {
        view = Workbench.cp().key(0);
        user = user(Consistency.CP);
        assertThat(read()).isEqualTo("view of old");
        bench.store.afterNext(Operation.PREPARE, LateSiblingsTests::fail);

        assertThatThrownBy(() -> node.invalidate(keys())).hasMessage("a defect");

        assertThat(bench.store.parts(view)).doesNotContain("value");
        assertThat(users.parts(user)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void allKeysAreInvalidatedAlthoughTheirPreparationAfterATransactionFails(boolean endIsHidden) {
        view = Workbench.cp().key(0);
        user = user(Consistency.CP);
        assertThat(read()).isEqualTo("view of old");
        if (endIsHidden) {
            bench.transactions.beginHidden();
        } else {
            bench.transactions.keepConnection();
        }
        bench.store.afterNext(Operation.PREPARE, LateSiblingsTests::fail);

        assertThatThrownBy(() -> node.invalidate(keys())).hasMessage("a defect");

        assertThat(bench.store.parts(view)).doesNotContain("value");
        assertThat(users.parts(user)).doesNotContain("value");
    }

    /** No later round makes the end again. */
    @Test
    void aLateEndIsMadeAlthoughItsPreparationFails() {
        use(Place.TWO_REDIS, Consistency.CP);
        node.update(keys(), () -> "not committed");
        bench.transactions.giveBackConnection();
        bench.store.afterNext(Operation.PREPARE, LateSiblingsTests::fail);

        tick(node, CacheSpec.DEFAULT_CLUSTER);

        assertThat(bench.store.parts(view)).doesNotContain("intents");
        assertThat(users.parts(user)).isEmpty();
    }

    /** Nothing can be prepared, so the keys are invalidated again. The first of these calls is not made. */
    @Test
    void aValueThatIsComputedBetweenTheEndsIsDroppedAlthoughTheirRepetitionFails() {
        use(Place.TWO_MASTERS, Consistency.AP);
        node.update(keys(), () -> "not committed");
        outlastTheMarks();
        bench.store.fail(Operation.PREPARE, Fault.LOST_REQUEST);
        commit();
        bench.store.onNext(Operation.DROP, LateSiblingsTests::fail);

        end(Order.VIEW_FIRST);
        bench.store.back();
        passAndTick(Duration.ofSeconds(5));

        assertNew();
    }

    @Test
    void theOtherRedisIsInvalidatedAfterARollbackAlthoughOneFails() {
        view = Workbench.cp().key(0);
        user = user(Consistency.CP);
        assertThat(read()).isEqualTo("view of old");
        bench.transactions.begin();
        node.invalidateInTransaction(keys());
        bench.store.afterNext(Operation.INVALIDATE, LateSiblingsTests::fail);

        assertThatThrownBy(bench.transactions::rollback).hasMessage("a defect");

        assertThat(users.parts(user)).isEmpty();
    }

    /** A defect in the clearing of the first Redis. */
    @ParameterizedTest
    @EnumSource
    void entriesAreInvalidatedAlthoughTheClearingInTheirRedisFails(Place place) {
        use(place, Consistency.AP);
        useLongTtl();
        bench.transactions.giveBackConnection();
        assertThat(read()).isEqualTo("view of old");
        int before = bench.store.count(Operation.INVALIDATE);
        bench.store.afterNext(Operation.RAISE_EPOCH, LateSiblingsTests::fail);

        assertThatThrownBy(() -> node.update(List.of(SOURCE.all(), view, user), () -> data = "new"))
                .hasMessage("a defect");

        assertThat(bench.store.count(Operation.INVALIDATE)).isGreaterThan(before);
        assertThat(bench.store.parts(view)).doesNotContain("value");
        assertThat(bench.store.raisedHashes()).isEqualTo(bench.store.epochHashes());
        assertThat(node.undelivered(CacheSpec.DEFAULT_CLUSTER))
                .as("the clearing")
                .isOne();
        passAndTick(Duration.ofSeconds(5));
        assertThat(node.undelivered(CacheSpec.DEFAULT_CLUSTER)).isZero();
    }

    private static void fail() {
        throw new IllegalStateException("a defect");
    }

    private String readFrom(CacheKey<String> source) {
        return reader.fetch(view, () -> "view of " + reader.fetch(source, () -> data));
    }

    private String readFromSource() {
        return reader.fetch(view, () -> "view of " + reader.fetch(user, () -> reader.fetch(SOURCE.key(1), () -> data)));
    }

    private void use(Place place, Consistency consistency) {
        if (place == Place.TWO_REDIS) {
            view = Workbench.spec(consistency).key(0);
            user = user(consistency);
        } else {
            bench.store.inParts(3);
            node = node();
            reader = node();
            view = Workbench.spec(consistency).key(0);
            user = Workbench.spec(consistency).key(1);
        }
        tickAll(node);
        tickAll(reader);
        tickAll(node);
        bench.transactions.keepConnection();
    }

    /** Readers store the old values then. */
    private void outlastTheMarks() {
        pass(view.spec().options().updateLease().plus(SECOND));
        assertThat(read()).isEqualTo("view of old");
    }

    private void commit() {
        data = "new";
        bench.transactions.giveBackConnection();
        readAfterEach(bench.store, Operation.INVALIDATE);
        readAfterEach(bench.store, Operation.DROP);
        readAfterEach(users, Operation.INVALIDATE);
        readAfterEach(users, Operation.DROP);
    }

    private void readAfterEach(FaultyCacheStore store, Operation operation) {
        store.afterNext(operation, () -> {
            String unused = read();
            readAfterEach(store, operation);
        });
    }

    private void end(Order order) {
        if (order == Order.VIEW_FIRST || order == Order.VIEW_ONLY) {
            tick(node, view.spec().clusterId());
        } else {
            tick(node, user.spec().clusterId());
        }
        String unused = read();
        bench.clock.advance(Duration.ofMillis(500));
        if (order == Order.VIEW_FIRST) {
            tick(node, user.spec().clusterId());
        } else if (order == Order.USER_FIRST) {
            tick(node, view.spec().clusterId());
        }
    }

    private void assertNew() {
        pass(SECOND.multipliedBy(5));
        assertThat(reader.fetch(user, () -> data)).isEqualTo("new");
        assertThat(read()).isEqualTo("view of new");
    }

    private void pass(Duration time) {
        bench.clock.advance(time);
        tickAll(reader);
    }

    private String read() {
        String read = reader.fetch(view, () -> "view of " + reader.fetch(user, () -> data));
        bench.background.runAll();
        return read;
    }

    private List<CacheKey<?>> keys() {
        return List.of(view, user);
    }

    private EasyCacheEngine node() {
        return bench.builder(new JacksonValueCodec()).store(USERS, users).buildStopped();
    }

    private static CacheKey<String> user(Consistency consistency) {
        return CacheSpec.of("user", String.class)
                .withOptions(Workbench.spec(consistency).options())
                .withClusterId(USERS)
                .key(1);
    }

    private static void tickAll(EasyCacheEngine node) {
        tick(node, CacheSpec.DEFAULT_CLUSTER);
        tick(node, USERS);
    }

    private static void tick(EasyCacheEngine node, String cluster) {
        List.copyOf(node.cluster(cluster).workers()).forEach(RecoveryWorker::tick);
    }
}
