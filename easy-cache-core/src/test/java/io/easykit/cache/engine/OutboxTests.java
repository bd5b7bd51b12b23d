package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.Availability;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.DegradedOptions.ApUpdates;
import io.easykit.cache.DegradedOptions.CpReads;
import io.easykit.cache.DegradedOptions.CpUpdates;
import io.easykit.cache.OutboxBacklog;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.FaultyCacheStore;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.InMemoryOutbox;
import io.easykit.cache.store.Outbox;
import io.easykit.cache.store.StoreUnavailableException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A node is cut off from the store and updates; another one reads. The cut-off node is {@code cut}: its store loses every
 * request, while all others use {@code bench.store} itself.
 */
class OutboxTests {

    private static final CacheSpec<String> AP = Workbench.ap();
    private static final CacheKey<String> KEY = AP.key(1);
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Workbench bench = new Workbench();
    private final InMemoryOutbox outbox = new InMemoryOutbox(bench.clock::millis);
    private final FaultyCacheStore nowhere = new FaultyCacheStore(bench.clock::millis);
    private final EasyCacheEngine cut = node(nowhere, DegradedOptions.defaults());
    private final EasyCacheEngine other = node(bench.store, DegradedOptions.defaults());
    private String data = "old";

    OutboxTests() {
        nowhere.away();
        assertThat(read()).isEqualTo("old");
    }

    // All entries of a prefix

    @Test
    void aClearingOfANodeThatIsCutOffIsDeliveredByAnotherOne() {
        update(AP.all());
        assertThat(read()).as("before the delivery").isEqualTo("old");

        round(other);

        assertThat(read()).isEqualTo("new");
        assertThat(outbox.waiting()).isZero();
    }

    @Test
    void aClearingThatFailsStaysInTheOutbox() {
        update(AP.all());
        bench.store.failNext(Operation.RAISE_EPOCH, Fault.LOST_REQUEST);
        round(other);
        assertThat(read()).isEqualTo("old");

        bench.clock.advance(SECOND);
        round(other);

        assertThat(read()).isEqualTo("new");
    }

    @Test
    void noReaderOfTheNodeThatDeliversAClearingJoinsALoadThatBeganBefore() throws Exception {
        CacheKey<String> key = AP.key(2);
        GatedLoader<String> slow = new GatedLoader<>(() -> data);
        Caller<String> before = Workbench.call(() -> other.fetch(key, slow));
        slow.awaitEntered();
        bench.clock.advance(Duration.ofMillis(100));
        update(AP.all());
        round(other);
        bench.clock.advance(Duration.ofMillis(100));

        Caller<String> after =
                Workbench.call(() -> other.fetch(key, () -> data)).awaitWaiting();
        bench.clock.advance(Duration.ofMillis(100));
        slow.letGo();
        assertThat(before.result()).isEqualTo("old");
        assertThat(after.result()).isEqualTo("new");
    }

    @Test
    void aClearingIsDeliveredTwiceIfItsMessageNamesEntries() {
        CacheKey<String> view = CacheSpec.of("view", String.class).key(1);
        EasyCacheEngine reader = node(bench.store, DegradedOptions.defaults());
        reader.fetch(KEY, () -> data);
        update(AP.all(), view);
        round(other);

        assertThat(reader.fetch(view, () -> "view of " + reader.fetch(KEY, () -> data)))
                .as("this node has not read the epochs")
                .isEqualTo("view of old");
        assertThat(bench.store.parts(view)).as("not stored").doesNotContain("value");
        round(other);
        assertThat(outbox.waiting()).as("until all nodes have").isEqualTo(1);
        bench.clock.advance(Epochs.SEEN_BY_ALL);
        round(other);
        assertThat(outbox.waiting()).isZero();
        assertThat(reader.fetch(view, () -> "view of " + reader.fetch(KEY, () -> data)))
                .isEqualTo("view of new");
        assertThat(reader.fetch(view, () -> "never")).as("cached").isEqualTo("view of new");
    }

    @ParameterizedTest
    @EnumSource(Between.class)
    void betweenTheTwoDeliveriesOfAClearingItsEntriesStayPrepared(Between between) {
        CacheKey<String> view = CacheSpec.of("view", String.class).key(1);
        update(AP.all(), view);
        round(other);

        between.happen(this, view);
        assertThat(bench.store.parts(view)).contains("intents");

        bench.clock.advance(Epochs.SEEN_BY_ALL);
        round(other);
        assertThat(bench.store.parts(view)).doesNotContain("intents");
        assertThat(outbox.waiting()).isZero();
    }

    enum Between {
        NOTHING {
            @Override
            void happen(OutboxTests test, CacheKey<String> view) {}
        },
        THE_NODE_RECOVERS {
            @Override
            void happen(OutboxTests test, CacheKey<String> view) {
                test.cutOffToo();
                test.bench.store.back();
                test.recover();
            }
        },
        ANOTHER_MESSAGE_NAMES_THE_ENTRY {
            @Override
            void happen(OutboxTests test, CacheKey<String> view) {
                test.update(view);
                test.round(test.other);
            }
        };

        abstract void happen(OutboxTests test, CacheKey<String> view);
    }

    // The transaction writes to the database of the outbox

    @Test
    void anUpdateOfANodeThatIsCutOffIsDeliveredByAnotherOne() {
        update(KEY);
        assertThat(read()).as("before the delivery").isEqualTo("old");

        round(other);
        assertThat(read()).isEqualTo("new");
    }

    @Test
    void aNodeThatRecoversFirstReadsNothingFromBeforeTheOutage() {
        cutOffToo();
        update(KEY);
        outbox.postpone(outbox.ids(), SECOND);
        bench.store.back();
        recover();

        assertThat(read()).isEqualTo("new");
        assertThat(outbox.waiting()).as("left to the reader of the outbox").isEqualTo(1);
    }

    @Test
    void aNodeThatRecoversDeliversWhatAFailoverMayHaveLost() {
        EasyCacheEngine third = node(bench.store, DegradedOptions.defaults());
        update(KEY);
        round(other);
        assertThat(outbox.waiting()).isZero();
        cutOffToo(third);
        bench.store.back();
        bench.store.loseEverything();
        assertThat(node(bench.store, DegradedOptions.defaults()).fetch(KEY, () -> "old"))
                .isEqualTo("old");
        recover(third);

        assertThat(third.fetch(KEY, () -> data)).isEqualTo("new");
    }

    @Test
    void aNodeThatRecoversDeliversEachOfManyMessages() {
        cutOffToo();
        IntStream.range(0, 500).forEach(i -> update(AP.key(i)));
        bench.store.back();
        int before = bench.store.count(Operation.DROP);
        recover();

        assertThat(bench.store.count(Operation.DROP) - before).isBetween(5, 10);
        assertThat(read()).isEqualTo("new");
    }

    @Test
    void aNodeRecoversAlthoughTheOutboxCannotBeRead() {
        cutOffToo();
        outbox.broken(true);
        bench.store.back();
        try (LogCapture log = LogCapture.of(OutboxRecovery.class)) {
            recover();
            assertThat(log.warnings()).singleElement().asString().contains("the database is away");
        }
        assertThat(read()).isEqualTo("old");
    }

    @Test
    void aNodeRecoversAlthoughTheOutboxHasADefect() {
        cutOffToo();
        outbox.beforeAll(() -> {
            throw new IllegalStateException("a defect");
        });
        bench.store.back();
        try (LogCapture log = LogCapture.of(OutboxRecovery.class)) {
            recover();
            assertThat(log.errors()).singleElement().asString().contains("This is a defect");
            assertThat(log.warnings()).isEmpty();
        }
    }

    @Test
    void aNodeRecoversAlthoughTheDatabaseHangs() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        outbox.beforeAll(() -> {
            begun.countDown();
            awaitUnlessInterrupted(end);
        });
        relay(other).start();
        try (LogCapture log = LogCapture.of(OutboxRecovery.class)) {
            cutOffToo();
            bench.store.back();
            Caller<Boolean> recovery = TwoNodes.inBackground(this::recover);
            assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
            bench.clock.advance(Outbox.MAX_DELAY);
            recovery.result();
            assertThat(log.warnings()).singleElement().asString().contains("2500 ms");
        } finally {
            end.countDown();
            relay(other).stop();
        }
    }

    private static void awaitUnlessInterrupted(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException stop) {
            throw new IllegalStateException("interrupted", stop);
        }
    }

    @Test
    void anEntryThatRedisRefusesToANodeThatRecoversKeepsNoOthersAway() {
        List<CacheKey<String>> keys = put(150);
        cutOffToo();
        bench.store.back();
        bench.store.refuse(keys.get(0));
        recover();
        assertThat(keys.subList(1, 150))
                .allSatisfy(key -> assertThat(other.fetch(key, () -> "new")).isEqualTo("new"));
    }

    @Test
    void anEntryThatRedisRefusesHoldsUpNoOtherMessage() {
        List<CacheKey<String>> keys = put(150);
        bench.store.refuse(keys.get(0));
        round(other);
        assertThat(outbox.waiting()).isEqualTo(1);
        assertThat(keys.subList(1, 150))
                .allSatisfy(key -> assertThat(other.fetch(key, () -> "new")).isEqualTo("new"));
    }

    @Test
    void manyEntriesThatRedisRefusesCostFewCalls() {
        put(200).forEach(bench.store::refuse);
        int before = bench.store.count(Operation.DROP);
        round(other);
        assertThat(bench.store.count(Operation.DROP) - before).isBetween(4, 20);
        pass(SECOND);
        assertThat(bench.store.count(Operation.DROP) - before)
                .as("not again after a second")
                .isBetween(4, 20);
        assertThat(outbox.waiting()).isEqualTo(200);
    }

    @Test
    void manyEntriesThatRedisRefusesToANodeThatRecoversCostFewCalls() {
        List<CacheKey<String>> keys = put(200);
        cutOffToo();
        bench.store.back();
        keys.forEach(bench.store::refuse);
        int before = bench.store.count(Operation.DROP);
        recover();
        assertThat(bench.store.count(Operation.DROP) - before).isBetween(4, 20);
    }

    @Test
    void someEntriesThatRedisRefusesHoldUpOtherMessagesForSecondsOnly() {
        List<CacheKey<String>> keys = put(150);
        keys.subList(0, 10).forEach(bench.store::refuse);
        round(other);
        pass(Duration.ofSeconds(29));
        assertThat(outbox.waiting()).isEqualTo(10);
        assertThat(keys.subList(10, 150))
                .allSatisfy(key -> assertThat(other.fetch(key, () -> "new")).isEqualTo("new"));
    }

    /** An embedded database may close itself when an interrupted thread uses it. */
    @Test
    void aRoundThatIsInterruptedLeavesTheDatabaseAlone() {
        put(8);
        int before = bench.store.count(Operation.DROP);
        interruptNext(Operation.DROP);
        try {
            round(other);
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(bench.store.count(Operation.DROP) - before).isEqualTo(1);
        assertThat(outbox.due(CacheSpec.DEFAULT_CLUSTER, 10)).hasSize(8);
    }

    @Test
    void aPassThatIsInterruptedLeavesTheDatabaseAlone() {
        put(8);
        AtomicInteger queries = new AtomicInteger();
        outbox.beforeAll(queries::incrementAndGet);
        interruptNext(Operation.PREPARE);
        try {
            assertThatThrownBy(() -> relay(other).deliverBeforeReaders(key -> true))
                    .isInstanceOf(StoreUnavailableException.class);
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(queries).hasValue(1);
    }

    private void interruptNext(Operation operation) {
        bench.store.onNext(operation, () -> {
            Thread.currentThread().interrupt();
            throw new StoreUnavailableException("interrupted", false, new InterruptedException());
        });
    }

    /** Puts one message for each of these entries, whose old values are cached. */
    private List<CacheKey<String>> put(int messages) {
        List<CacheKey<String>> keys =
                IntStream.range(1000, 1000 + messages).mapToObj(AP::key).toList();
        EasyCacheEngine reader = node(bench.store, DegradedOptions.defaults());
        keys.forEach(key -> reader.fetch(key, () -> "old"));
        keys.forEach(key -> outbox.put(new Outbox.Message(key.name(), CacheSpec.DEFAULT_CLUSTER, List.of(key.name()))));
        return keys;
    }

    @Test
    void aNodeThatStopsDoesNotRecover() {
        relay(other).start();
        cutOffToo();
        bench.store.back();
        relay(other).stop();
        probe(other);
        assertThat(other.availability("default").state()).isEqualTo(Availability.State.UNAVAILABLE);
    }

    private void cutOffToo() {
        cutOffToo(other);
    }

    private void cutOffToo(EasyCacheEngine node) {
        bench.store.away();
        for (int i = 0; i < 10; i++) {
            node.fetch(AP.key(100 + i), () -> "any");
        }
        assertThat(node.availability("default").state()).isEqualTo(Availability.State.UNAVAILABLE);
    }

    private void recover() {
        recover(other);
    }

    private static void recover(EasyCacheEngine node) {
        probe(node);
        assertThat(node.availability("default").state()).isEqualTo(Availability.State.AVAILABLE);
    }

    private static void probe(EasyCacheEngine node) {
        for (int i = 0; i < CircuitBreakerOptions.defaults().probesToRecover(); i++) {
            node.cluster("default").workers().get(0).tick();
        }
    }

    @Test
    void noReaderOfTheNodeThatDeliversJoinsALoadThatBeganBefore() throws Exception {
        CacheKey<String> key = AP.key(2);
        GatedLoader<String> slow = new GatedLoader<>(() -> data);
        Caller<String> before = Workbench.call(() -> other.fetch(key, slow));
        slow.awaitEntered();
        bench.clock.advance(Duration.ofMillis(100));
        update(key);
        round(other);

        Caller<String> after =
                Workbench.call(() -> other.fetch(key, () -> data)).awaitWaiting();
        slow.letGo();
        assertThat(before.result()).isEqualTo("old");
        assertThat(after.result()).isEqualTo("new");
    }

    /** A Redis that is full prepares nothing, so it still accepts the value of a load that began before. */
    @Test
    void noReaderOfTheNodeThatDeliversJoinsALoadThatWasStoredDuringTheDelivery() throws Exception {
        CacheKey<String> key = AP.key(2);
        GatedLoader<String> slow = new GatedLoader<>(() -> data);
        GatedLoader<String> stored = new GatedLoader<>(() -> "");
        EasyCacheEngine delivering =
                builder(bench.store).listener(Workbench.pausing(key, stored)).buildStopped();
        Caller<String> before = Workbench.call(() -> delivering.fetch(key, slow));
        slow.awaitEntered();
        bench.clock.advance(Duration.ofMillis(100));
        update(key);
        bench.store.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
        bench.store.onNext(Operation.DROP, () -> {
            bench.clock.advance(Duration.ofMillis(100));
            slow.letGo();
            stored.awaitEntered();
            bench.clock.advance(Duration.ofMillis(100));
        });
        round(delivering);

        Caller<String> after =
                Workbench.call(() -> delivering.fetch(key, () -> data)).awaitWaiting();
        stored.letGo();
        assertThat(before.result()).isEqualTo("old");
        assertThat(after.result()).isEqualTo("new");
    }

    @Test
    void itsMessagesAreCountedByTheNodeThatDelivers() {
        cut.update(List.of(KEY), () -> {
            bench.clock.advance(Duration.ofSeconds(3));
            round(other);
            assertThat(other.outboxBacklog(CacheSpec.DEFAULT_CLUSTER))
                    .isEqualTo(new OutboxBacklog(1, 0, Duration.ofSeconds(3)));
            return null;
        });
        round(other);
        assertThat(other.outboxBacklog(CacheSpec.DEFAULT_CLUSTER))
                .isEqualTo(new OutboxBacklog(1, 0, Duration.ofSeconds(3)));
        bench.clock.advance(Duration.ofSeconds(10));
        round(other);
        assertThat(other.outboxBacklog(CacheSpec.DEFAULT_CLUSTER)).isEqualTo(new OutboxBacklog(0, 1, Duration.ZERO));
        assertThat(cut.outboxBacklog(CacheSpec.DEFAULT_CLUSTER)).isNull();

        outbox.broken(true);
        bench.clock.advance(Duration.ofSeconds(10));
        round(other);
        assertThat(other.outboxBacklog(CacheSpec.DEFAULT_CLUSTER)).isNull();
    }

    /** It may have written messages that no other node counts. */
    @Test
    void itsMessagesAreCountedByANodeThatDoesNotReachRedis() {
        update(KEY);
        cut.cluster(CacheSpec.DEFAULT_CLUSTER).availability().force(Availability.State.UNAVAILABLE);
        round(cut);
        assertThat(cut.outboxBacklog(CacheSpec.DEFAULT_CLUSTER)).isEqualTo(new OutboxBacklog(1, 0, Duration.ZERO));
    }

    @Test
    void theLineAtTheStopNamesTheOutbox() {
        update(KEY);
        cut.start();
        try (LogCapture log = LogCapture.of(StoppedCluster.class)) {
            cut.stop();
            assertThat(log.warnings()).isEmpty();
            assertThat(log.infos())
                    .singleElement()
                    .asString()
                    .startsWith("1 invalidations")
                    .contains("in the outbox");
        }
    }

    @Test
    void theLinesAtTheStopTellWhatIsInTheOutboxFromWhatIsLost() {
        CacheKey<String> lost = AP.key(2);
        CacheSpec<String> cleared = CacheSpec.of("cleared", String.class);
        cut.start();
        outbox.broken(true);
        cut.invalidate(List.of(KEY, lost));
        cut.invalidateAll(cleared);
        outbox.broken(false);
        cut.invalidate(KEY);

        try (LogCapture log = LogCapture.of(StoppedCluster.class)) {
            cut.stop();
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .startsWith("2 invalidations")
                    .contains("[all of 'cleared', " + lost.name() + "]");
            assertThat(log.infos())
                    .singleElement()
                    .asString()
                    .startsWith("1 invalidations")
                    .contains("[" + KEY.name() + "]");
        }
    }

    /** The line at the stop has named those in the outbox only. */
    @Test
    void anUpdateAfterTheStopThatIsLostIsReported() {
        cut.start();
        update(KEY);
        try (LogCapture log = LogCapture.of(StoppedCluster.class)) {
            cut.stop();
            assertThat(log.warnings()).isEmpty();
            outbox.broken(true);
            cut.invalidate(AP.key(2));
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .startsWith("1 invalidations")
                    .contains("[" + AP.key(2).name() + "]");
            assertThat(log.infos()).hasSize(1);
        }
    }

    @Test
    void nothingIsWrittenWhileTheStoreAcknowledges() {
        bench.transactions.begin();
        other.updateInTransaction(List.of(KEY), () -> null);
        bench.transactions.commit(() -> data = "new");

        assertThat(outbox.size()).isZero();
    }

    @Test
    void aTimeoutCountsAsNotTold() {
        bench.store.failNext(Operation.PREPARE, Fault.LOST_REPLY);
        bench.transactions.begin();
        other.updateInTransaction(List.of(KEY), () -> null);
        bench.transactions.commit(() -> outbox.end(true));

        assertThat(outbox.size()).isEqualTo(1);
    }

    @Test
    void aRollbackLeavesNothing() {
        bench.transactions.begin();
        cut.updateInTransaction(List.of(KEY), () -> null);
        assertThatThrownBy(() -> bench.transactions.commit(() -> {
                    outbox.end(false);
                    throw new IllegalStateException("the commit failed");
                }))
                .hasMessage("the commit failed");

        assertThat(outbox.size()).isZero();
    }

    @Test
    void anUpdateIsRefusedWhenNeitherCanBeTold() {
        outbox.broken(true);
        bench.transactions.begin();
        cut.updateInTransaction(List.of(KEY), () -> null);

        assertThatThrownBy(() -> bench.transactions.commit(() -> data = "new"))
                .isInstanceOf(CacheUnavailableException.class)
                .hasMessageContaining("the outbox cannot be written (the database is away)")
                .hasMessageContaining("Repeat it when Redis is back");
        assertThat(data).isEqualTo("old");
    }

    @Test
    void aRefusedUpdateNamesSomeOfItsKeys() {
        outbox.broken(true);
        bench.transactions.begin();
        cut.updateInTransaction(IntStream.range(0, 1000).mapToObj(AP::key).toList(), () -> null);

        assertThatThrownBy(() -> bench.transactions.commit(() -> data = "new"))
                .isInstanceOf(CacheUnavailableException.class)
                .hasMessageContaining(AP.key(19) + " and 980 more] is refused")
                .message()
                .hasSizeLessThan(2000);
    }

    // It does not, or there is none

    @Test
    void anUpdateWithoutATransactionIsWrittenBeforeItRuns() {
        cut.update(List.of(KEY), () -> {
            assertThat(outbox.size()).isEqualTo(1);
            return change();
        });

        round(other);
        assertThat(read()).isEqualTo("new");
    }

    @Test
    void anUpdateWithoutATransactionDoesNotRunWhenItCannotBeWritten() {
        outbox.broken(true);
        assertThatThrownBy(() -> cut.update(List.of(KEY), () -> data = "new"))
                .isInstanceOf(CacheUnavailableException.class);
        assertThat(data).isEqualTo("old");
    }

    /** A reader loads between the delivery and the change, and stores the old value. */
    @ParameterizedTest
    @EnumSource(Ending.class)
    void aMessageThatIsDeliveredBeforeTheChangeIsDeliveredAgain(Ending ending) {
        outbox.notJoinable();
        Runnable meanwhile = () -> {
            round(other);
            assertThat(read()).isEqualTo("old");
        };
        try {
            ending.update(this, meanwhile);
        } catch (IllegalStateException lost) {
            assertThat(lost).hasMessage("the commit's reply was lost");
        }
        assertThat(data).isEqualTo("new");
        bench.clock.advance(ending == Ending.CRASH ? AP.options().updateLease() : SECOND);
        round(other);
        assertThat(read()).isEqualTo("new");
        assertThat(outbox.waiting()).isZero();
    }

    enum Ending {
        WITHOUT_A_TRANSACTION {
            @Override
            void update(OutboxTests test, Runnable meanwhile) {
                test.cut.update(List.of(KEY), () -> {
                    meanwhile.run();
                    return test.change();
                });
            }
        },
        ANOTHER_DATABASE {
            @Override
            void update(OutboxTests test, Runnable meanwhile) {
                test.bench.transactions.begin();
                test.cut.updateInTransaction(List.of(KEY), () -> null);
                test.bench.transactions.commit(() -> {
                    meanwhile.run();
                    test.data = "new";
                });
            }
        },
        COMMIT_OF_UNKNOWN_RESULT {
            @Override
            void update(OutboxTests test, Runnable meanwhile) {
                test.bench.transactions.begin();
                test.cut.updateInTransaction(List.of(KEY), () -> null);
                test.bench.transactions.commit(() -> {
                    meanwhile.run();
                    test.data = "new";
                    throw new IllegalStateException("the commit's reply was lost");
                });
            }
        },
        /** The message is never closed. */
        CRASH {
            @Override
            void update(OutboxTests test, Runnable meanwhile) {
                test.outbox.add(
                        new Outbox.Message("m", CacheSpec.DEFAULT_CLUSTER, List.of(KEY.name())),
                        false,
                        AP.options().updateLease());
                meanwhile.run();
                test.data = "new";
            }
        };

        abstract void update(OutboxTests test, Runnable meanwhile);
    }

    /** Its message is delivered, or deleted too, before the change. A reader stores the old value after that. */
    @ParameterizedTest
    @ValueSource(ints = {10, 31, 45, 70, 130})
    void anUpdateThatOutlastsItsMessageIsDelivered(int seconds) {
        cut.update(List.of(KEY), () -> {
            pass(Duration.ofSeconds(seconds));
            assertThat(read()).isEqualTo("old");
            return change();
        });

        pass(Outbox.MAX_DELAY);
        assertThat(read()).isEqualTo("new");
    }

    /** The holder of the lease records a delivery after the end of the update, and has delivered before its change. */
    @Test
    void anUpdateThatEndsDuringADeliveryOfItsMessageIsDeliveredAgain() {
        GatedLoader<String> change = new GatedLoader<>(() -> data);
        Caller<Boolean> update = TwoNodes.inBackground(() -> cut.update(List.of(KEY), () -> {
            change.load();
            return change();
        }));
        change.awaitEntered();
        EasyCacheEngine holder = builder(bench.store)
                .outbox(passing(Outbox.class, (method, arguments) -> {
                    if (method.getName().equals("delivered") && !update.isDone()) {
                        assertThat(read()).isEqualTo("old");
                        change.letGo();
                        assertThat(update).satisfies(Caller::result);
                    }
                    return method.invoke(outbox, arguments);
                }))
                .buildStopped();
        bench.clock.advance(AP.options().updateLease());
        round(holder);
        assertThat(update.isDone()).isTrue();

        bench.clock.advance(SECOND);
        round(holder);
        assertThat(read()).isEqualTo("new");
    }

    /** The mark of the update ends by its lease. A reader stores the old value after that. */
    @ParameterizedTest
    @EnumSource(Lasting.class)
    void anUpdateThatOutlastsItsMarkOnANodeThatIsCutOffIsDelivered(Lasting lasting) {
        AtomicReference<EntryStore> redis = new AtomicReference<>(bench.store);
        EasyCacheEngine node = node(switching(redis), DegradedOptions.defaults());

        lasting.update(this, node, () -> {
            redis.set(nowhere);
            pass(AP.options().updateLease().plus(SECOND));
            assertThat(read()).isEqualTo("old");
            data = "new";
        });
        assertThat(outbox.waiting()).isEqualTo(1);

        pass(Outbox.MAX_DELAY);
        assertThat(read()).isEqualTo("new");
    }

    enum Lasting {
        ACTION {
            @Override
            void update(OutboxTests test, EasyCacheEngine node, Runnable change) {
                node.update(List.of(KEY), () -> {
                    change.run();
                    return null;
                });
            }
        },
        /** Its mark is renewed once. */
        RENEWED_ACTION {
            @Override
            void update(OutboxTests test, EasyCacheEngine node, Runnable change) {
                node.update(List.of(KEY), () -> {
                    test.bench.clock.advance(AP.options().updateLease().dividedBy(2));
                    probe(node);
                    change.run();
                    return null;
                });
            }
        },
        COMMIT {
            @Override
            void update(OutboxTests test, EasyCacheEngine node, Runnable change) {
                test.bench.transactions.begin();
                node.updateInTransaction(List.of(KEY), () -> null);
                test.bench.transactions.commit(change);
            }
        },
        CALLBACK_AFTER_THE_COMMIT {
            @Override
            void update(OutboxTests test, EasyCacheEngine node, Runnable change) {
                test.bench.transactions.keepConnection();
                node.update(List.of(KEY), () -> null);
                change.run();
                test.bench.transactions.giveBackConnection();
                probe(node);
            }
        };

        abstract void update(OutboxTests test, EasyCacheEngine node, Runnable change);
    }

    static EntryStore switching(AtomicReference<EntryStore> to) {
        return passing(EntryStore.class, (method, arguments) -> method.invoke(to.get(), arguments));
    }

    private interface Call {
        Object of(Method method, Object[] arguments) throws ReflectiveOperationException;
    }

    private static <T> T passing(Class<T> type, Call call) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    try {
                        return call.of(method, arguments);
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    }
                }));
    }

    /** Its mark, which was renewed in time, covers it. */
    @Test
    void nothingIsWrittenAtTheEndOfALongUpdateWhoseMarkIsRenewed() {
        AtomicReference<EntryStore> redis = new AtomicReference<>(bench.store);
        EasyCacheEngine node = node(switching(redis), DegradedOptions.defaults());
        node.update(List.of(KEY), () -> {
            for (int half = 0; half < 5; half++) {
                bench.clock.advance(AP.options().updateLease().dividedBy(2));
                probe(node);
            }
            redis.set(nowhere);
            return change();
        });

        assertThat(outbox.size()).isZero();
        assertThat(read()).isEqualTo("new");
    }

    enum Invalidation {
        ENTRY {
            @Override
            void send(EasyCacheEngine node) {
                node.invalidate(KEY);
            }
        },
        ENTRIES {
            @Override
            void send(EasyCacheEngine node) {
                node.invalidate(List.of(KEY, AP.key(2)));
            }
        },
        ALL {
            @Override
            void send(EasyCacheEngine node) {
                node.invalidateAll(AP);
            }
        },
        ALL_AND_ENTRY {
            @Override
            void send(EasyCacheEngine node) {
                node.invalidate(
                        List.of(AP.all(), CacheSpec.of("view", String.class).key(1)));
            }
        },
        ENTRY_BY_AN_OPERATOR {
            @Override
            void send(EasyCacheEngine node) {
                node.admin().evict(KEY);
            }
        },
        ALL_BY_AN_OPERATOR {
            @Override
            void send(EasyCacheEngine node) {
                node.admin().drop(null, AP.prefix());
            }
        };

        abstract void send(EasyCacheEngine node);
    }

    @ParameterizedTest
    @EnumSource
    void anInvalidationAfterTheChangeIsWrittenWhenItCannotBeDelivered(Invalidation invalidation) {
        cut.fetch(KEY, () -> data);
        data = "new";
        invalidation.send(cut);
        assertThat(outbox.waiting()).isEqualTo(1);

        round(other);
        assertThat(read()).isEqualTo("new");
    }

    /** It may have been read from the database, and stored, before the commit. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.MATCH_NONE, names = ".*_BY_AN_OPERATOR")
    void anInvalidationInACallbackIsWrittenAgainAfterALateCommit(Invalidation invalidation) {
        bench.transactions.keepConnection();
        invalidation.send(cut);
        pass(Epochs.SEEN_BY_ALL.plus(SECOND));
        assertThat(read()).isEqualTo("old");
        assertThat(outbox.waiting()).isZero();

        data = "new";
        bench.transactions.giveBackConnection();
        probe(cut);

        pass(Epochs.SEEN_BY_ALL.plus(SECOND));
        assertThat(read()).isEqualTo("new");
        assertThat(outbox.waiting()).isZero();
    }

    @Test
    void anInvalidationAfterTheChangeGoesOnWhenItCannotBeWrittenEither() {
        outbox.broken(true);
        cut.invalidate(KEY);
        assertThat(cut.undelivered(CacheSpec.DEFAULT_CLUSTER)).isEqualTo(1);
    }

    // Options

    @Test
    void apUpdatesAreRefusedIfToldSo() {
        EasyCacheEngine refusing =
                node(nowhere, new DegradedOptions(SECOND, 32, CpReads.BYPASS, CpUpdates.REFUSE, ApUpdates.REFUSE, 10));

        assertThatThrownBy(() -> refusing.update(List.of(KEY), () -> data = "new"))
                .isInstanceOf(CacheUnavailableException.class)
                .hasMessageContaining("consistency = AP");
        assertThat(data).isEqualTo("old");
        assertThat(outbox.size()).isZero();
    }

    @Test
    void cpUpdatesAreRefusedAsWithoutAnOutbox() {
        assertThatThrownBy(() -> cut.update(List.of(Workbench.cp().key(1)), () -> data = "new"))
                .isInstanceOf(CacheUnavailableException.class);
        assertThat(outbox.size()).isZero();
    }

    @Test
    void cpUpdatesThatProceedAreWritten() {
        EasyCacheEngine proceeding = node(
                nowhere, new DegradedOptions(SECOND, 32, CpReads.BYPASS, CpUpdates.PROCEED, ApUpdates.PROCEED, 10));
        proceeding.update(List.of(Workbench.cp().key(1)), () -> data = "new");

        round(other);
        assertThat(read()).isEqualTo("new");
    }

    // Delivery

    @Test
    void allNodesTogetherQueryOnceASecond() {
        List<EasyCacheEngine> fleet = IntStream.range(0, 5)
                .mapToObj(i -> node(bench.store, DegradedOptions.defaults()))
                .toList();
        for (int second = 0; second < 60; second++) {
            fleet.forEach(this::round);
            bench.clock.advance(SECOND);
        }
        assertThat(outbox.queries())
                .as("60 rounds, and two when the lease was taken")
                .isBetween(60, 62);
    }

    @Test
    void aNodeThatIsCutOffDoesNotQuery() {
        round(cut);
        assertThat(outbox.queries()).isZero();
    }

    @Test
    void anotherNodeTakesOverWhenTheLeaseIsOver() {
        round(other);
        EasyCacheEngine third = node(bench.store, DegradedOptions.defaults());
        Duration left = relay(third).round();
        assertThat(left).isBetween(Duration.ofMillis(1), OutboxRelay.LEASE);
        update(KEY);

        bench.clock.advance(OutboxRelay.LEASE);
        round(third);
        assertThat(read()).isEqualTo("new");
    }

    @Test
    void messagesAreKeptForTheRetentionAndThenDeleted() {
        pass(Duration.ofSeconds(10));
        update(KEY);
        round(other);
        assertThat(outbox.size()).isEqualTo(1);
        assertThat(outbox.waiting()).isZero();

        pass(OutboxDelivery.RETENTION.minusSeconds(1));
        assertThat(outbox.size()).isEqualTo(1);
        pass(SECOND);
        assertThat(outbox.size()).isZero();
    }

    @ParameterizedTest
    @EnumSource(Failover.class)
    void whatAFailoverLosesIsDeliveredAgain(Failover failover) {
        update(KEY);
        round(other);
        pass(Duration.ofSeconds(20));

        EasyCacheEngine next = failover.happen(this);
        putOldValueBack();
        round(next);
        assertThat(read()).isEqualTo("new");
    }

    enum Failover {
        THE_SAME_NODE_RECONNECTS {
            @Override
            EasyCacheEngine happen(OutboxTests test) {
                test.bench.store.reconnect();
                return test.other;
            }
        },
        THE_SAME_NODE_MISSES_A_ROUND {
            @Override
            EasyCacheEngine happen(OutboxTests test) {
                test.bench.store.failNext(Operation.LEASE, Fault.LOST_REQUEST);
                test.round(test.other);
                return test.other;
            }
        },
        /** Longer than the retention: nothing grows old meanwhile. */
        THE_STORE_IS_AWAY_FOR_A_MINUTE {
            @Override
            EasyCacheEngine happen(OutboxTests test) {
                test.bench.store.away();
                test.pass(Duration.ofMinutes(1));
                test.bench.store.back();
                return test.other;
            }
        },
        THE_NODE_DIES_TOO {
            @Override
            EasyCacheEngine happen(OutboxTests test) {
                test.bench.clock.advance(OutboxRelay.LEASE);
                return test.node(test.bench.store, DegradedOptions.defaults());
            }
        };

        abstract EasyCacheEngine happen(OutboxTests test);
    }

    /** It delivered to the master that is no more, and marks that when another node has the lease already. */
    @Test
    void aLateMarkOfTheHolderBeforeIsTakenBack() {
        update(KEY);
        round(other);
        EasyCacheEngine next = Failover.THE_NODE_DIES_TOO.happen(this);
        outbox.onNextRedelivery(() -> outbox.delivered(outbox.ids(), OutboxDelivery.RETENTION));
        putOldValueBack();
        round(next);
        assertThat(read()).as("marked after the lease was taken").isEqualTo("old");

        for (int second = 0; second < 7; second++) {
            bench.clock.advance(SECOND);
            round(next);
        }
        assertThat(read()).isEqualTo("new");
    }

    @Test
    void thousandsAreDeliveredInOneRound() {
        List<CacheKey<String>> keys = IntStream.range(0, 3000).mapToObj(AP::key).toList();
        keys.forEach(key -> other.fetch(key, () -> data));
        data = "new";
        keys.forEach(cut::invalidate);
        assertThat(outbox.waiting()).isEqualTo(3000);

        round(other);
        assertThat(outbox.waiting()).isZero();
        assertThat(keys)
                .allSatisfy(key -> assertThat(other.fetch(key, () -> data)).isEqualTo("new"));
    }

    @Test
    void unreadableMessagesAreSkipped() {
        outbox.put(new Outbox.Message("bad", CacheSpec.DEFAULT_CLUSTER, List.of("nonsense", "", ":x::1", "\ud800::1")));
        update(KEY);

        round(other);
        assertThat(read()).isEqualTo("new");
        assertThat(outbox.waiting()).isZero();
    }

    @Test
    void aStoreThatIsFullIsTold() {
        update(KEY);
        bench.store.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
        round(other);
        assertThat(read()).isEqualTo("new");
    }

    @Test
    void aDeliveryThatFailsIsRepeated() {
        update(KEY);
        bench.store.failNext(Operation.DROP, Fault.LOST_REQUEST);
        round(other);
        assertThat(outbox.waiting()).isEqualTo(1);

        bench.clock.advance(SECOND);
        round(other);
        assertThat(read()).isEqualTo("new");
    }

    /** The outer value is computed from the inner one; a reader comes between their invalidations, which are sent apart. */
    @Test
    void aReaderBetweenTwoInvalidationsStoresNothingOld() {
        CacheKey<String> outer = CacheSpec.of("outer", String.class).key(1);
        other.fetch(outer, () -> "of " + data);
        List<CacheKey<?>> keys = new ArrayList<>(List.of(outer));
        IntStream.range(100, 200).mapToObj(AP::key).forEach(keys::add);
        keys.add(KEY);
        bench.transactions.begin();
        cut.updateInTransaction(keys, () -> null);
        bench.transactions.commit(() -> {
            data = "new";
            outbox.end(true);
        });
        Runnable reader = () -> other.fetch(outer, () -> "of " + read());
        bench.store.onNext(Operation.DROP, () -> bench.store.onNext(Operation.DROP, reader));

        round(other);
        assertThat(other.fetch(outer, () -> "of " + read())).isEqualTo("of new");
    }

    @Test
    void aDatabaseThatIsAwayIsAskedAgain() {
        update(KEY);
        outbox.broken(true);
        round(other);
        outbox.broken(false);
        bench.clock.advance(SECOND);
        round(other);
        assertThat(read()).isEqualTo("new");
    }

    private void update(CacheKey<?>... keys) {
        bench.transactions.begin();
        cut.updateInTransaction(List.of(keys), () -> null);
        bench.transactions.commit(() -> {
            data = "new";
            outbox.end(true);
        });
    }

    private String change() {
        data = "new";
        return data;
    }

    private String read() {
        return other.fetch(KEY, () -> data);
    }

    /** As if the new master had never heard of the invalidation. */
    private void putOldValueBack() {
        bench.store.loseEverything();
        String now = data;
        data = "old";
        assertThat(read()).isEqualTo("old");
        data = now;
    }

    private void pass(Duration time) {
        for (long second = 0; second < time.toSeconds(); second++) {
            bench.clock.advance(SECOND);
            round(other);
        }
    }

    private void round(EasyCacheEngine node) {
        relay(node).round();
    }

    private static OutboxRelay relay(EasyCacheEngine node) {
        return node.cluster(CacheSpec.DEFAULT_CLUSTER).relay();
    }

    private EasyCacheEngine node(EntryStore store, DegradedOptions degraded) {
        return builder(store).degraded(degraded).buildStopped();
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
