package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.FaultyCacheStore;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.InMemoryOutbox;
import io.easykit.cache.store.Outbox.Due;
import io.easykit.cache.store.Outbox.Message;
import io.easykit.cache.store.Outbox.State;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An update clears a cache, and names an entry that is computed from one of that cache. Its node does not reach the store. Another
 * one delivers the outbox, and a third one reads.
 */
class OutboxClearingTests {

    private static final CacheSpec<String> SOURCES = Workbench.ap();
    private static final CacheKey<String> SOURCE = SOURCES.key(1);
    private static final CacheKey<String> VIEW =
            CacheSpec.of("view", String.class).withOptions(SOURCES.options()).key(1);
    private static final String VIEWS = "views";
    private static final CacheKey<String> FAR_VIEW = CacheSpec.of("far", String.class)
            .withOptions(SOURCES.options())
            .withClusterId(VIEWS)
            .key(1);
    private static final List<CacheKey<?>> UPDATE = List.of(SOURCES.all(), VIEW);
    private static final Duration LEASE = SOURCES.options().updateLease();

    private final Workbench bench = new Workbench();
    private final InMemoryOutbox outbox = new InMemoryOutbox(bench.clock::millis);
    private final FaultyCacheStore nowhere = new FaultyCacheStore(bench.clock::millis);
    private final AtomicReference<EntryStore> redis = new AtomicReference<>(nowhere);
    private final EasyCacheEngine node = node(OutboxTests.switching(redis));
    private final EasyCacheEngine other = node(bench.store);
    private final EasyCacheEngine reader = node(bench.store);
    private String data = "old";

    OutboxClearingTests() {
        nowhere.away();
        assertThat(read()).isEqualTo("view of old");
    }

    /** Which part of the preparation Redis acknowledges. */
    enum Acknowledged {
        NOTHING,
        THE_CLEARING,
        THE_ENTRY
    }

    @ParameterizedTest
    @EnumSource
    void oneMessageNamesAllOfAnUpdateWhoseNodeDies(Acknowledged acknowledged) throws Exception {
        if (acknowledged != Acknowledged.NOTHING) {
            redis.set(bench.store);
            bench.store.failNext(
                    acknowledged == Acknowledged.THE_ENTRY ? Operation.PREPARE_CLEAR : Operation.PREPARE,
                    Fault.LOST_REQUEST);
        }
        commitAndDie(() -> node.updateInTransaction(UPDATE, () -> null));
        assertThat(messages()).singleElement().satisfies(OutboxClearingTests::namesAll);

        round();
        assertThat(read()).as("this node has not read the epochs").isEqualTo("view of old");
        bench.clock.advance(Epochs.SEEN_BY_ALL);
        round();
        assertThat(read()).isEqualTo("view of new");
    }

    @ParameterizedTest
    @EnumSource
    void aKeyThatIsAddedDuringTheCommitIsInAMessageWithTheOthers(Order order) throws Exception {
        List<CacheKey<?>> keys = order == Order.CLEARING_FIRST ? UPDATE : List.of(VIEW, SOURCES.all());
        commitAndDie(
                () -> node.updateInTransaction(List.of(keys.get(0)), () -> null),
                () -> node.updateInTransaction(List.of(keys.get(1)), () -> null));
        assertThat(messages()).hasSize(2).anySatisfy(OutboxClearingTests::namesAll);

        for (long second = 0; second < LEASE.multipliedBy(2).toSeconds(); second++) {
            round();
            String unused = read();
            bench.clock.advance(Duration.ofSeconds(1));
        }
        assertThat(outbox.waiting()).isZero();
        assertThat(read()).isEqualTo("view of new");
    }

    enum Order {
        CLEARING_FIRST,
        ENTRY_FIRST
    }

    /** Other nodes must not store the entry before they have ended the clearing of a node that died, and all have read that. */
    @ParameterizedTest
    @EnumSource
    void anEntryBesideAClearingStaysPreparedForLonger(Order order) throws Exception {
        redis.set(bench.store);
        List<CacheKey<?>> keys = order == Order.CLEARING_FIRST ? UPDATE : List.of(VIEW, SOURCES.all());
        commitAndDie(
                () -> node.updateInTransaction(List.of(keys.get(0)), () -> null),
                () -> node.updateInTransaction(List.of(keys.get(1)), () -> null));
        assertThat(outbox.size()).isZero();

        bench.clock.advance(LEASE);
        assertThat(read()).as("not stored").isEqualTo("view of old");
        tick(reader);
        bench.clock.advance(PrefixClearing.REPAIR);
        assertThat(read()).isEqualTo("view of new");
    }

    /** Neither of its two ends has anything to write. */
    @Test
    void anUpdateInATransactionWritesOneMessage() {
        bench.transactions.begin();
        node.updateInTransaction(UPDATE, () -> null);
        try (LogCapture log = LogCapture.of(OutboxWriter.class)) {
            bench.transactions.commit(() -> {
                data = "new";
                outbox.end(true);
                outbox.broken(true);
            });
            assertThat(log.warnings()).isEmpty();
        }
        outbox.broken(false);
        assertThat(messages()).singleElement().satisfies(OutboxClearingTests::namesAll);

        reachRedis();
        assertThat(outbox.size()).isEqualTo(1);
    }

    /** An open one would drop the cache each second. */
    @Test
    void theFirstEndClosesTheMessage() {
        outbox.notJoinable();
        node.update(UPDATE, () -> {
            assertThat(outbox.due(CacheSpec.DEFAULT_CLUSTER, 10))
                    .singleElement()
                    .extracting(Due::state)
                    .isEqualTo(State.OPEN);
            data = "new";
            return null;
        });
        assertThat(outbox.due(CacheSpec.DEFAULT_CLUSTER, 10))
                .singleElement()
                .extracting(Due::state)
                .isEqualTo(State.WAITING);

        round();
        bench.clock.advance(Epochs.SEEN_BY_ALL);
        round();
        assertThat(outbox.waiting()).isZero();
        assertThat(read()).isEqualTo("view of new");

        reachRedis();
        assertThat(outbox.size()).isEqualTo(1);
        assertThat(outbox.waiting()).as("not delivered again").isZero();
    }

    /** The marks in Redis cover it before its second end. When that is due they are over. */
    @Test
    void aSecondEndThatIsLateIsWritten() {
        redis.set(bench.store);
        node.update(UPDATE, () -> data = "new");
        assertThat(outbox.size()).isZero();
        redis.set(nowhere);
        bench.clock.advance(LEASE);
        tick(node);
        assertThat(messages()).singleElement().satisfies(OutboxClearingTests::namesAll);
    }

    @Test
    void aSecondEndInTimeIsNotWritten() {
        redis.set(bench.store);
        node.update(UPDATE, () -> data = "new");
        redis.set(nowhere);
        bench.clock.advance(Epochs.SEEN_BY_ALL);
        tick(node);
        assertThat(outbox.size()).isZero();
    }

    /** Each of two Redis has a message of its own: one clears the cache, one names the entry. */
    @Test
    void aMessageThatOnlyNamesEntriesIsDeliveredUntilTheClearingIsSeen() {
        outbox.notJoinable();
        AtomicReference<EntryStore> views = new AtomicReference<>(nowhere);
        FaultyCacheStore viewStore = new FaultyCacheStore(bench.clock::millis);
        EasyCacheEngine cutOff = twoStores(OutboxTests.switching(redis), OutboxTests.switching(views));
        EasyCacheEngine deliverer = twoStores(bench.store, viewStore);
        EasyCacheEngine third = twoStores(bench.store, viewStore);
        assertThat(readFar(third)).isEqualTo("view of old");

        cutOff.update(List.of(SOURCES.all(), FAR_VIEW), () -> data = "new");
        round(deliverer, CacheSpec.DEFAULT_CLUSTER);
        round(deliverer, VIEWS);
        assertThat(readFar(third)).as("this node has not read the epochs").isEqualTo("view of old");
        bench.clock.advance(Epochs.SEEN_BY_ALL);
        tick(third);
        round(deliverer, VIEWS);
        assertThat(readFar(third)).isEqualTo("view of new");

        redis.set(bench.store);
        views.set(viewStore);
        for (int second = 0; second < 3; second++) {
            tick(cutOff);
            tick(cutOff, VIEWS);
            bench.clock.advance(Epochs.SEEN_BY_ALL);
        }
        assertThat(outbox.due(VIEWS, 10))
                .as("the second end closes it")
                .extracting(Due::state)
                .containsExactly(State.WAITING);
    }

    /** The preparation has a defect in one Redis, and none of the ends reaches its Redis. */
    @Test
    void theEndIsWrittenForEachRedisAlthoughAPreparationFails() {
        FaultyCacheStore viewStore = new FaultyCacheStore(bench.clock::millis);
        EasyCacheEngine sender = twoStores(bench.store, viewStore);
        bench.store.afterNext(Operation.PREPARE_CLEAR, () -> {
            throw new IllegalStateException("a defect");
        });
        bench.store.fail(Operation.RAISE_EPOCH, Fault.LOST_REQUEST);
        viewStore.away();

        assertThatThrownBy(() -> sender.invalidate(List.of(SOURCES.all(), FAR_VIEW)))
                .hasMessage("a defect");

        assertThat(messages())
                .extracting(Message::keys)
                .containsExactly(List.of(SOURCES.all().name()));
        assertThat(outbox.all(VIEWS, "", 10)).extracting(Message::keys).containsExactly(List.of(FAR_VIEW.name()));
    }

    @Test
    void aKeyThatIsAddedAfterThePreparationOfAClearingIsPreparedAlone() {
        redis.set(bench.store);
        bench.transactions.begin();
        node.updateInTransaction(UPDATE, () -> null);
        Objects.requireNonNull(bench.transactions.current()).beforeCommit();
        assertThat(bench.store.count(Operation.PREPARE_CLEAR)).isOne();
        int prepared = bench.store.count(Operation.PREPARE);

        for (long added = 2; added < 7; added++) {
            CacheKey<String> more = VIEW.spec().key(added);
            node.updateInTransaction(List.of(more), () -> null);
            node.updateInTransaction(List.of(SOURCES.all(), more), () -> null);
            assertThat(bench.store.parts(more)).contains("intents");
        }
        assertThat(bench.store.count(Operation.PREPARE_CLEAR)).isOne();
        assertThat(bench.store.count(Operation.PREPARE) - prepared).isEqualTo(5);
    }

    /** What Redis acknowledged before is named, too: it can be computed from an older value again. */
    @Test
    void anAddedKeyThatIsNotPreparedIsInAMessageWithTheOthers() throws Exception {
        redis.set(bench.store);
        commitAndDie(() -> node.updateInTransaction(List.of(SOURCES.all()), () -> null), () -> {
            redis.set(nowhere);
            node.updateInTransaction(List.of(VIEW), () -> null);
        });
        assertThat(messages()).singleElement().satisfies(OutboxClearingTests::namesAll);
    }

    private String readFar(EasyCacheEngine engine) {
        return engine.fetch(FAR_VIEW, () -> "view of " + engine.fetch(SOURCE, () -> data));
    }

    private EasyCacheEngine twoStores(EntryStore sources, EntryStore views) {
        return builder(sources).store(VIEWS, views).buildStopped();
    }

    private static void namesAll(Message message) {
        assertThat(message.keys()).containsExactlyInAnyOrder(SOURCES.all().name(), VIEW.name());
    }

    private List<Message> messages() {
        return outbox.all(CacheSpec.DEFAULT_CLUSTER, "", 10);
    }

    private void commitAndDie(Runnable... updates) throws Exception {
        bench.commitAndDie(this::commit, updates);
    }

    private void commit() {
        data = "new";
        outbox.end(true);
    }

    /** The node delivers its invalidations, and makes the second end. */
    private void reachRedis() {
        redis.set(bench.store);
        tick(node);
        bench.clock.advance(Epochs.SEEN_BY_ALL);
        tick(node);
        assertThat(node.undelivered(CacheSpec.DEFAULT_CLUSTER)).isZero();
    }

    private String read() {
        return reader.fetch(VIEW, () -> "view of " + reader.fetch(SOURCE, () -> data));
    }

    private void round() {
        round(other, CacheSpec.DEFAULT_CLUSTER);
    }

    private static void round(EasyCacheEngine engine, String cluster) {
        engine.cluster(cluster).relay().round();
    }

    private static void tick(EasyCacheEngine engine) {
        tick(engine, CacheSpec.DEFAULT_CLUSTER);
    }

    private static void tick(EasyCacheEngine engine, String cluster) {
        List.copyOf(engine.cluster(cluster).workers()).forEach(RecoveryWorker::tick);
    }

    private EasyCacheEngine node(EntryStore store) {
        return builder(store).buildStopped();
    }

    private EasyCacheEngine.Builder builder(EntryStore store) {
        return EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .transactions(bench.transactions)
                .background(bench.background)
                .outbox(outbox)
                .ticker(bench.clock);
    }
}
