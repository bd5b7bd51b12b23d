package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheOrderTimeoutException;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.Consistency;
import io.easykit.cache.SerialOptions;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Reads and writes of one key of a serial cache run one after the other, in order of arrival. */
class SerialTests {

    private final Workbench bench = new Workbench();
    private final Turns turns = new Turns();
    private final EasyCacheEngine cache =
            bench.builder(new JacksonValueCodec()).listener(turns).buildStopped();
    private final CacheKey<String> key = serial(Consistency.AP).key(1);
    private final List<String> done = new CopyOnWriteArrayList<>();

    private static CacheSpec<String> serial(Consistency consistency) {
        return serial(consistency, SerialOptions.defaults().withMaxWait(Duration.ofMinutes(1)));
    }

    private static CacheSpec<String> serial(Consistency consistency, SerialOptions options) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        return spec.withOptions(spec.options().toBuilder().serial(options).build());
    }

    /** What became of the calls that needed turns. */
    private static final class Turns implements CacheListener {

        private final Map<Turn, AtomicInteger> counts = new ConcurrentHashMap<>();
        private final AtomicInteger longestQueue = new AtomicInteger();

        @Override
        public void onTurn(CacheKey<?> key, Turn turn, Duration waited, int queued) {
            counts.computeIfAbsent(turn, any -> new AtomicInteger()).incrementAndGet();
            longestQueue.accumulateAndGet(queued, Math::max);
            assertThat(waited.isZero()).isEqualTo(queued == 0);
        }

        int count(Turn turn) {
            return counts.getOrDefault(turn, new AtomicInteger()).get();
        }
    }

    @AfterEach
    void noKeyIsBusyAtTheEnd() {
        Awaitility.await().until(() -> cache.busyKeys() == 0);
    }

    private Caller<String> update(CacheKey<?> of, GatedLoader<String> gate) {
        return Workbench.call(() -> cache.update(List.of(of), gate::load));
    }

    /** A write that has the turn of the key until it is let go. */
    private GatedLoader<String> occupy() throws InterruptedException {
        GatedLoader<String> gate = new GatedLoader<>(() -> "occupied");
        update(key, gate);
        gate.awaitEntered();
        return gate;
    }

    private Caller<String> write(String name) {
        return Workbench.call(() -> cache.update(List.of(key), () -> {
                    done.add(name);
                    return name;
                }))
                .awaitWaiting();
    }

    private Caller<String> read(String name) {
        return Workbench.call(() -> cache.fetch(key, () -> {
                    done.add(name);
                    return name;
                }))
                .awaitWaiting();
    }

    @Test
    void runsInOrderOfArrival() throws Exception {
        GatedLoader<String> first = occupy();
        List<Caller<String>> all = List.of(write("a"), read("b"), read("c"), write("d"), read("e"), write("f"));
        first.letGo();
        assertThat(all.get(0).result()).isEqualTo("a");
        String read = all.get(1).result();
        assertThat(read).isIn("b", "c").isEqualTo(all.get(2).result());
        assertThat(all.get(4).result()).isEqualTo("e");
        assertThat(all.get(5).result()).isEqualTo("f");
        assertThat(done).containsExactly("a", read, "d", "e", "f");
        assertThat(turns.count(CacheListener.Turn.MERGED)).isEqualTo(1);
        assertThat(turns.longestQueue).hasValue(6);
    }

    @Test
    void readsOfOneTurnLoadOnce() throws Exception {
        GatedLoader<String> first = occupy();
        AtomicInteger loads = new AtomicInteger();
        List<Caller<String>> readers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            readers.add(Workbench.call(() -> cache.fetch(key, () -> "load " + loads.incrementAndGet()))
                    .awaitWaiting());
        }
        first.letGo();
        for (Caller<String> reader : readers) {
            assertThat(reader.result()).isEqualTo("load 1");
        }
        assertThat(turns.count(CacheListener.Turn.MERGED)).isEqualTo(19);
        assertThat(turns.longestQueue).hasValue(20);
    }

    /** Single flight alone decides whether the load that runs is new enough. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void aReadJoinsTheReadThatRuns(Consistency consistency) throws Exception {
        CacheKey<String> own = serial(consistency).key(1);
        GatedLoader<String> slow = new GatedLoader<>(() -> "first");
        Caller<String> early = Workbench.call(() -> cache.fetch(own, slow));
        slow.awaitEntered();
        bench.clock.advance(Duration.ofMillis(1));
        Caller<String> late =
                Workbench.call(() -> cache.fetch(own, () -> "second")).awaitWaiting();
        slow.letGo();
        assertThat(early.result()).isEqualTo("first");
        assertThat(late.result()).isEqualTo("first");
        assertThat(turns.count(CacheListener.Turn.MERGED)).isEqualTo(1);
        assertThat(turns.longestQueue).hasValue(0);
    }

    @Test
    void aReadBehindAWriteDoesNotTakeAnOlderLoad() throws Exception {
        GatedLoader<String> slow = new GatedLoader<>(() -> "old");
        Caller<String> early = Workbench.call(() -> cache.fetch(key, slow));
        slow.awaitEntered();
        Caller<String> writer = write("write");
        Caller<String> late =
                Workbench.call(() -> cache.fetch(key, () -> "new")).awaitWaiting();
        slow.letGo();
        assertThat(early.result()).isEqualTo("old");
        assertThat(writer.result()).isEqualTo("write");
        assertThat(late.result()).isEqualTo("new");
    }

    @Test
    void aHitOfAnIdleKeyNeedsNoTurn() {
        assertThat(cache.fetch(key, () -> "value")).isEqualTo("value");
        int before = turns.count(CacheListener.Turn.OWN);
        bench.events.next();
        assertThat(cache.fetch(key, () -> "never")).isEqualTo("value");
        assertThat(turns.count(CacheListener.Turn.OWN)).isEqualTo(before);
        assertThat(bench.events.next()).containsExactly("hit FRESH");
    }

    @Test
    void aHitWaitsForTheWriteThatRuns() throws Exception {
        AtomicReference<String> database = new AtomicReference<>("old");
        cache.fetch(key, database::get);
        GatedLoader<String> first = new GatedLoader<>(() -> database.getAndSet("new"));
        update(key, first);
        first.awaitEntered();
        Caller<String> reader =
                Workbench.call(() -> cache.fetch(key, database::get)).awaitWaiting();
        first.letGo();
        assertThat(reader.result()).isEqualTo("new");
    }

    @Test
    void anotherKeyIsNotDelayed() throws Exception {
        GatedLoader<String> first = occupy();
        CacheKey<String> other = serial(Consistency.AP).key(2);
        assertThat(cache.fetch(other, () -> "other")).isEqualTo("other");
        assertThat(cache.update(List.of(other), () -> "updated")).isEqualTo("updated");
        first.letGo();
    }

    /** The value is a counter in the database, so a lost update or an older value would show. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void aThousandMixedOperationsRunOneAfterTheOther(Consistency consistency) throws Exception {
        CacheKey<Integer> counter = CacheSpec.<Integer>of("counter", Integer.class)
                .withOptions(serial(consistency).options())
                .key(1);
        int[] database = {0};
        AtomicInteger writes = new AtomicInteger();
        List<Caller<Integer>> callers = new ArrayList<>();
        for (int caller = 0; caller < 50; caller++) {
            int id = caller;
            callers.add(Workbench.call(() -> {
                int seen = 0;
                for (int step = 0; step < 20; step++) {
                    int value = (step + id) % 4 == 0
                            ? cache.update(List.of(counter), () -> {
                                int before = database[0];
                                Thread.onSpinWait();
                                database[0] = before + 1;
                                writes.incrementAndGet();
                                return database[0];
                            })
                            : cache.fetch(counter, () -> database[0]);
                    assertThat(value).isGreaterThanOrEqualTo(seen);
                    seen = value;
                }
                return seen;
            }));
        }
        for (Caller<Integer> caller : callers) {
            assertThat(caller.result()).isPositive();
        }
        assertThat(writes).hasValue(250);
        assertThat(database[0]).isEqualTo(250);
        assertThat(turns.count(CacheListener.Turn.MERGED)).isPositive();
    }

    @Test
    void aWriteIsPreparedThenRunsInATransactionAndIsInvalidated() {
        noteNext(Operation.PREPARE);
        noteNext(Operation.INVALIDATE);
        cache.update(List.of(key), () -> {
            noteNext(Operation.PREPARE);
            return done.add("action " + bench.transactions.isActive());
        });
        assertThat(done).containsExactly("PREPARE []", "action true", "PREPARE [begin]", "INVALIDATE [begin, commit]");
    }

    private void noteNext(Operation operation) {
        bench.store.onNext(operation, () -> done.add(operation + " " + bench.transactions.own()));
    }

    /** Another node stores the old value when the lease of the first preparation is over, before the commit. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void aWriteThatTakesLongerThanItsLeaseIsPreparedAgainBeforeItsCommit(Consistency consistency) throws Exception {
        CacheKey<String> slow = serial(consistency).key(1);
        EasyCacheEngine elsewhere = bench.node();
        cache.update(List.of(slow), () -> {
            bench.clock.advance(slow.spec().options().updateLease().plusSeconds(10));
            assertThat(Workbench.call(() -> elsewhere.fetch(slow, () -> "old")).result())
                    .isEqualTo("old");
            assertThat(bench.store.parts(slow)).contains("value");
            bench.store.onNext(
                    Operation.INVALIDATE,
                    () -> done.add(bench.transactions.own() + " "
                            + bench.store.parts(slow).contains("intents")));
            return null;
        });
        assertThat(done).containsExactly("[begin, commit] true");
        bench.clock.advance(Duration.ofSeconds(2)); // the stale window
        assertThat(elsewhere.fetch(slow, () -> "new")).isEqualTo("new");
    }

    @Test
    void aStrongWriteThatCannotBePreparedAgainIsRolledBack() {
        CacheKey<String> strong = serial(Consistency.CP).key(1);
        assertThatThrownBy(() -> cache.update(List.of(strong), () -> {
                    bench.store.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
                    return done.add("done");
                }))
                .isInstanceOf(CacheUnavailableException.class);
        assertThat(bench.transactions.own()).doesNotContain("commit");
        assertThat(done).containsExactly("done");
    }

    @Test
    void noTransactionBeginsIfThePreparationFails() {
        CacheKey<String> strong = serial(Consistency.CP).key(1);
        bench.store.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
        assertThatThrownBy(() -> cache.update(List.of(strong), () -> done.add("never")))
                .isInstanceOf(CacheUnavailableException.class);
        assertThat(bench.transactions.own()).isEmpty();
        assertThat(done).isEmpty();
    }

    @Test
    void anApWriteGoesOnIfThePreparationFails() {
        bench.store.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
        cache.update(List.of(key), () -> done.add("done"));
        assertThat(bench.transactions.own()).containsExactly("begin", "commit");
    }

    @Test
    void aFailingPreparationOfAnInnerUpdateRollsBack() {
        CacheKey<String> strong = serial(Consistency.CP).key(1);
        CacheKey<String> inner = Workbench.cp().key("inner");
        assertThatThrownBy(() -> cache.update(
                        List.of(strong),
                        () -> cache.updateInTransaction(List.of(inner), () -> {
                            bench.store.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
                            return null;
                        })))
                .isInstanceOf(CacheUnavailableException.class);
        assertThat(bench.transactions.own()).doesNotContain("commit");
    }

    @Test
    void anUnknownOutcomeIsInvalidated() {
        cache.fetch(key, () -> "old");
        bench.transactions.failToCommit();
        assertThatThrownBy(() -> cache.update(List.of(key), () -> "any")).hasMessage("lost");
        assertThat(cache.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void anErrorOrAnExceptionFreesTheKey() {
        assertThatThrownBy(() -> cache.update(List.of(key), () -> {
                    throw new StackOverflowError("deep");
                }))
                .isInstanceOf(StackOverflowError.class);
        assertThatThrownBy(() -> cache.fetch(key, () -> {
                    throw new OutOfMemoryError("full");
                }))
                .isInstanceOf(OutOfMemoryError.class);
        assertThat(bench.transactions.own()).containsExactly("begin", "rollback");
        assertThat(cache.busyKeys()).isZero();
        assertThat(cache.fetch(key, () -> "value")).isEqualTo("value");
    }

    @Test
    void anErrorOfAListenerFreesTheKey() {
        EasyCacheEngine observed = bench.builder(new JacksonValueCodec())
                .listener(new CacheListener() {
                    @Override
                    public void onTurn(CacheKey<?> any, Turn turn, Duration waited, int queued) {
                        throw new OutOfMemoryError("listener");
                    }
                })
                .buildStopped();
        assertThatThrownBy(() -> observed.update(List.of(key), () -> done.add("never")))
                .hasMessage("listener");
        assertThat(observed.busyKeys()).isZero();
        assertThat(done).isEmpty();
    }

    @Test
    void aCallWhoseWaitEndedNeverRuns() throws Exception {
        CacheKey<String> hasty = serial(Consistency.AP, new SerialOptions(Duration.ofMillis(20), 10))
                .key(1);
        GatedLoader<String> first = occupy();
        Caller<String> behind = write("behind");
        assertThatThrownBy(() -> cache.update(List.of(hasty), () -> done.add("never")))
                .isInstanceOf(CacheOrderTimeoutException.class)
                .hasMessageContaining("serial-wait (20ms)")
                .hasMessageContaining("2 of this JVM were ahead")
                .hasMessageContaining("raise 'serial-wait'");
        assertThatThrownBy(() -> cache.fetch(hasty, () -> "never")).isInstanceOf(CacheOrderTimeoutException.class);
        first.letGo();
        behind.result();
        assertThat(done).containsExactly("behind");
        assertThat(turns.count(CacheListener.Turn.TIMED_OUT)).isEqualTo(2);
    }

    /** It gives way to the one behind it, also if that waited for it alone. */
    @Test
    void anInterruptedCallNeverRuns() throws Exception {
        GatedLoader<String> first = occupy();
        Caller<String> interrupted = write("never");
        Caller<String> behind = write("behind");
        interrupted.interrupt();
        assertThat(interrupted.failure())
                .isInstanceOf(CacheOrderTimeoutException.class)
                .hasMessageContaining("interrupted");
        first.letGo();
        behind.result();
        assertThat(done).containsExactly("behind");
        assertThat(turns.count(CacheListener.Turn.INTERRUPTED)).isEqualTo(1);
    }

    @Test
    void aFullQueueRefusesAtOnce() throws Exception {
        CacheKey<String> small = serial(Consistency.AP, new SerialOptions(Duration.ofMinutes(1), 2))
                .key(1);
        GatedLoader<String> first = occupy();
        List<Caller<String>> waiting = List.of(write("a"), read("b"));
        assertThatThrownBy(() -> cache.fetch(small, () -> "never"))
                .isInstanceOf(CacheOrderTimeoutException.class)
                .hasMessageContaining("2 calls wait for this key already (serial-queue)")
                .hasMessageContaining("raise 'serial-queue'");
        assertThat(turns.count(CacheListener.Turn.REFUSED)).isEqualTo(1);
        first.letGo();
        for (Caller<String> one : waiting) {
            one.result();
        }
    }

    @Test
    void aThreadThatHasTheTurnRunsItsCallsAtOnce() {
        CacheKey<String> other = serial(Consistency.AP).key(2);
        String result = cache.inOrder(
                List.of(key),
                () -> cache.fetch(other, () -> cache.fetch(key, () -> cache.update(List.of(key), () -> "inside"))));
        assertThat(result).isEqualTo("inside");
        assertThat(bench.transactions.own()).containsExactly("begin", "commit");
        CacheKey<String> third = serial(Consistency.AP).key(3);
        CacheKey<String> fourth = serial(Consistency.AP).key(4);
        assertThat(cache.fetch(third, () -> cache.fetch(fourth, () -> cache.fetch(third, () -> "own"))))
                .isEqualTo("own");
        assertThat(turns.count(CacheListener.Turn.OUTSIDE)).isZero();
    }

    @Test
    void anActionInOrderIsAloneWithItsKeys() throws Exception {
        CacheKey<String> other = serial(Consistency.AP).key(2);
        GatedLoader<String> both = new GatedLoader<>(() -> "both");
        Caller<String> holder = Workbench.call(() -> cache.inOrder(List.of(other, key), both::load));
        both.awaitEntered();
        Caller<String> writer = write("write");
        Caller<String> reader =
                Workbench.call(() -> cache.fetch(other, () -> "read")).awaitWaiting();
        assertThat(done).isEmpty();
        both.letGo();
        assertThat(holder.result()).isEqualTo("both");
        writer.result();
        assertThat(reader.result()).isEqualTo("read");
    }

    @Test
    void updatesOfTwoKeysInOppositeOrdersWaitInTheOrderOfTheKeys() throws Exception {
        CacheKey<String> other = serial(Consistency.AP).key(2);
        int[] sum = {0};
        List<Caller<String>> callers = IntStream.range(0, 20)
                .mapToObj(i -> Workbench.call(() -> {
                    for (int step = 0; step < 50; step++) {
                        cache.update(i % 2 == 0 ? List.of(key, other) : List.of(other, key), () -> sum[0]++);
                    }
                    return "done";
                }))
                .toList();
        for (Caller<String> caller : callers) {
            assertThat(caller.result()).isEqualTo("done");
        }
        assertThat(sum[0]).isEqualTo(1_000);
        assertThat(turns.count(CacheListener.Turn.OUTSIDE)).isZero();
    }

    /** Two readers whose loaders read each other's key. The second one goes on at once. */
    @Test
    void nestedReadsInOppositeOrdersDoNotWaitForEachOther() throws Exception {
        CacheKey<String> other = serial(Consistency.AP).key(2);
        GatedLoader<String> begun = new GatedLoader<>(() -> "");
        Caller<String> one =
                Workbench.call(() -> cache.fetch(key, () -> begun.load() + cache.fetch(other, () -> "other")));
        begun.awaitEntered();
        Caller<String> two = Workbench.call(() -> cache.fetch(other, () -> "2 " + cache.fetch(key, () -> "key")))
                .awaitWaiting();
        begun.letGo();
        assertThat(one.result()).isEqualTo("other");
        assertThat(two.result()).isIn("2 other", "2 key");
        assertThat(turns.count(CacheListener.Turn.OUTSIDE)).isEqualTo(1);
    }

    /** A merged reader has the turn of a key that the loader of its turn needs. */
    @Test
    void aMergedReadDoesNotWaitForALoadThatWaitsForIt() throws Exception {
        CacheKey<String> other = serial(Consistency.CP).key(2);
        GatedLoader<String> loading = new GatedLoader<>(() -> "");
        Caller<String> loader = Workbench.call(
                () -> cache.fetch(other, () -> loading.load() + cache.update(List.of(key), () -> "updated")));
        loading.awaitEntered();
        Caller<String> merged = Workbench.call(() -> cache.inOrder(List.of(key), () -> {
                    done.add("in order");
                    return cache.fetch(other, () -> "merged");
                }))
                .awaitWaiting();
        assertThat(done).containsExactly("in order");
        loading.letGo();
        assertThat(loader.result()).isEqualTo("updated");
        assertThat(merged.result()).isIn("updated", "merged");
        assertThat(turns.count(CacheListener.Turn.OUTSIDE)).isEqualTo(1);
    }

    @Test
    void aCallInsideATransactionIsOutsideTheOrder() throws Exception {
        GatedLoader<String> first = occupy();
        bench.transactions.begin();
        try {
            assertThat(cache.fetch(key, () -> "read")).isEqualTo("read");
            assertThat(cache.update(List.of(key), () -> "written")).isEqualTo("written");
            assertThat(cache.inOrder(List.of(key), () -> "in order")).isEqualTo("in order");
        } finally {
            bench.transactions.rollback();
        }
        first.letGo();
    }

    /** Other readers may wait for that load, and the lanes do not track it. */
    @Test
    void aReadInsideTheLoadOfAnotherCacheWaitsForNobody() throws Exception {
        CacheKey<String> view = Workbench.cp().key("view");
        GatedLoader<String> first = occupy();
        assertThat(cache.fetch(view, () -> "view of " + cache.fetch(key, () -> "key")))
                .isEqualTo("view of key");
        first.letGo();
        Awaitility.await().until(() -> cache.busyKeys() == 0);
        CacheKey<String> again = Workbench.cp().key("again");
        cache.fetch(again, () -> "view of " + cache.fetch(key, () -> "stored"));
        assertThat(cache.fetch(key, () -> "never")).isEqualTo("stored");
    }

    /** The two loaders read each other's key, and the lanes track one of the loads only. */
    @Test
    void aReadOutsideTheOrderSharesItsTurnWithNoOther() throws Exception {
        CacheKey<String> view = Workbench.cp().key("view");
        CompletableFuture<Held> secondRead = new CompletableFuture<>();
        Caller<String> outside = Workbench.call(() -> cache.fetch(view, () -> {
            bench.store.onNext(Operation.READ, () -> secondRead.complete(bench.store.hold(Operation.READ)));
            return "view of " + cache.fetch(key, () -> "key");
        }));
        Held held = secondRead.get(10, TimeUnit.SECONDS);
        held.awaitReached();
        Caller<String> behind = Workbench.call(() -> cache.fetch(key, () -> cache.fetch(view, () -> "never")))
                .awaitWaiting();
        held.release();
        assertThat(outside.result()).isEqualTo("view of key");
        assertThat(behind.result()).isEqualTo("key");
        assertThat(turns.count(CacheListener.Turn.MERGED)).isZero();
    }

    @Test
    void aThreadOfALoadDoesNotWaitForTheTurnOfThatLoad() throws Exception {
        String value = cache.fetch(key, () -> {
            try {
                return Workbench.call(() -> cache.fetch(key, () -> "helper")).result();
            } catch (Exception failed) {
                throw new AssertionError(failed);
            }
        });
        assertThat(value).isEqualTo("helper");
    }

    @Test
    void callsThatWaitHaveTheirTurnsAfterAStop() throws Exception {
        GatedLoader<String> first = occupy();
        List<Caller<String>> waiting = List.of(write("a"), read("b"), write("c"));
        cache.stop();
        first.letGo();
        for (Caller<String> one : waiting) {
            one.result();
        }
        assertThat(done).containsExactly("a", "b", "c");
    }

    @Test
    void readsGoOnWithoutTheStore() throws Exception {
        bench.cutOff(cache);
        GatedLoader<String> first = occupy();
        Caller<String> reader = read("without");
        first.letGo();
        assertThat(reader.result()).isEqualTo("without");
        assertThat(cache.fetch(key, () -> "never")).isEqualTo("without");
    }
}
