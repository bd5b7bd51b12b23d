package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.LoadObserver;
import io.easykit.cache.Loader;
import io.easykit.cache.async.Futures;
import io.easykit.cache.async.Steps;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Reads that hold no thread while they wait. All threads of the cache are one, which queues its tasks. */
class AsyncReadTests {

    private final Workbench bench = new Workbench();
    private final AtomicReference<String> database = new AtomicReference<>("old");
    private final AtomicInteger loads = new AtomicInteger();

    @AutoClose("shutdownNow")
    private final ExecutorService only = Executors.newSingleThreadExecutor();

    private final EasyCacheEngine cache = node(only);
    private final CacheKey<String> key = Workbench.ap().key(1);

    @BeforeEach
    void answerLater() {
        bench.store.answeringLater();
    }

    private EasyCacheEngine node(Executor threads) {
        return bench.builder(new JacksonValueCodec())
                .nearLevels(() -> new CaffeineLocalLevel(100))
                .async(threads)
                .buildStopped();
    }

    private static <T> T result(CompletableFuture<T> future) throws Exception {
        return future.get(30, TimeUnit.SECONDS);
    }

    private static Throwable failure(CompletableFuture<?> future) {
        Throwable failure = catchThrowable(() -> result(future));
        assertThat(failure).isInstanceOf(ExecutionException.class);
        return failure.getCause();
    }

    private CompletableFuture<String> load() {
        loads.incrementAndGet();
        return CompletableFuture.completedFuture(database.get());
    }

    private CompletableFuture<String> read(EasyCacheEngine node, CacheKey<String> of) {
        return node.async().fetch(of, this::load);
    }

    /** Runs a task on the one thread, which must be idle to do so. */
    private void requireIdle() throws Exception {
        only.submit(() -> {}).get(30, TimeUnit.SECONDS);
    }

    private static CacheSpec<String> window(Duration window) {
        return Workbench.ap()
                .withOptions(
                        Workbench.ap().options().toBuilder().staleWindow(window).build());
    }

    private static CacheSpec<String> near() {
        return Workbench.ap()
                .withOptions(Workbench.ap().options().toBuilder()
                        .nearTtl(Duration.ofSeconds(1))
                        .build());
    }

    /** Else a stop would wait for a call that never ends. */
    @Test
    void anErrorOfTheClientEndsTheCallAndItsFuture() throws Exception {
        AtomicInteger ended = new AtomicInteger();
        Futures futures = new Futures(only, () -> new Steps(only, UnaryOperator.identity(), ended::incrementAndGet));
        EasyCacheEngine node =
                bench.builder(new JacksonValueCodec()).async(futures).buildStopped();
        assertThat(result(read(node, Workbench.ap().key(2)))).isEqualTo("old");
        bench.store.failNextSend(new NoClassDefFoundError("of the test"));

        assertThat(failure(read(node, key))).isInstanceOf(NoClassDefFoundError.class);

        Awaitility.await().until(() -> ended.get() == 2);
    }

    /** Two hundred of them are read twice. All loads are running before the first one ends. */
    @Test
    void aThousandOfColdKeysNeedOneThread() throws Exception {
        CompletableFuture<Void> mayEnd = new CompletableFuture<>();
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        List<CompletableFuture<String>> reads = new ArrayList<>();
        for (int i = 0; i < 1200; i++) {
            CacheKey<String> cold = Workbench.ap().key("cold", i % 1000);
            reads.add(cache.async().fetch(cold, () -> {
                threads.add(Thread.currentThread());
                loads.incrementAndGet();
                return mayEnd.thenApply(any -> cold.name());
            }));
        }
        Awaitility.await().until(() -> loads.get() == 1000);
        requireIdle();
        assertThat(reads).noneMatch(CompletableFuture::isDone);

        mayEnd.complete(null);
        for (int i = 0; i < reads.size(); i++) {
            assertThat(result(reads.get(i)))
                    .isEqualTo(Workbench.ap().key("cold", i % 1000).name());
        }
        assertThat(loads).hasValue(1000);
        assertThat(threads).containsExactly(only.submit(Thread::currentThread).get());
    }

    /** The thread is held by another task, so nothing could go on there. */
    @Test
    void aHitOfTheNearLevelIsThereAtOnce() throws Exception {
        CacheKey<String> hot = near().key(1);
        assertThat(result(read(cache, hot))).isEqualTo("old");
        int reads = bench.store.count(Operation.READ);
        CompletableFuture<Void> free = new CompletableFuture<>();
        only.execute(free::join);
        bench.events.next();

        assertThat(read(cache, hot)).isCompletedWithValue("old");
        assertThat(bench.events.next()).containsExactly("hit NEAR");
        assertThat(bench.store.count(Operation.READ)).isEqualTo(reads);
        free.complete(null);
    }

    @Test
    void theLocalLevelAnswersAtOnceWhileTheStoreIsAway() throws Exception {
        CacheKey<String> strong = Workbench.cp().key(2);
        Objects.requireNonNull(cache.availability("default")).force(State.UNAVAILABLE);
        assertThat(result(read(cache, key))).isEqualTo("old");
        CompletableFuture<Void> free = new CompletableFuture<>();
        only.execute(free::join);
        bench.events.next();

        assertThat(read(cache, key)).isCompletedWithValue("old");
        assertThat(bench.events.next()).containsExactly("hit LOCAL");
        CompletableFuture<String> loaded = read(cache, strong);
        assertThat(loaded).as("CP").isNotDone();
        free.complete(null);
        assertThat(result(loaded)).isEqualTo("old");
        assertThat(loads).hasValue(2);
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void aHitHoldsNoThreadUntilTheReply(Consistency consistency) throws Exception {
        CacheKey<String> entry = Workbench.spec(consistency).key(1);
        assertThat(result(read(cache, entry))).isEqualTo("old");
        Held reply = bench.store.hold(Operation.READ);
        AtomicReference<Thread> after = new AtomicReference<>();
        CompletableFuture<String> read = read(cache, entry);
        CompletableFuture<Void> followed = read.thenAccept(any -> after.set(Thread.currentThread()));
        reply.awaitReached();
        requireIdle();
        bench.events.next();
        reply.release();

        result(followed);
        assertThat(read).isCompletedWithValue("old");
        assertThat(after.get())
                .as("not a thread of the store")
                .isSameAs(only.submit(Thread::currentThread).get());
        assertThat(bench.events.next()).containsExactly("hit FRESH");
        assertThat(loads).hasValue(1);
    }

    /** Not on the thread of the store. */
    @Test
    void whatFollowsARejectedStepRunsOnAThreadOfItsOwn() throws Exception {
        AtomicBoolean full = new AtomicBoolean();
        EasyCacheEngine node = node(task -> {
            if (full.get()) {
                throw new RejectedExecutionException("full");
            }
            only.execute(task);
        });
        assertThat(result(read(node, key))).isEqualTo("old");
        Held reply = bench.store.hold(Operation.READ);
        AtomicReference<Thread> after = new AtomicReference<>();
        CompletableFuture<String> followed =
                read(node, key).whenComplete((value, failure) -> after.set(Thread.currentThread()));
        reply.awaitReached();
        full.set(true);
        reply.release();

        assertThat(failure(followed))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessage("full");
        assertThat(after.get().getName()).startsWith("easy-cache-rejected-");
    }

    @Test
    void readersOfARunningLoadHoldNoThread() throws Exception {
        GatedLoader<String> blocking = new GatedLoader<>(database::get);
        Caller<String> owner = Workbench.call(() -> cache.fetch(key, blocking));
        blocking.awaitEntered();
        List<CompletableFuture<String>> reads =
                Stream.generate(() -> read(cache, key)).limit(50).toList();
        requireIdle();
        assertThat(reads).noneMatch(CompletableFuture::isDone);
        blocking.letGo();

        assertThat(owner.result()).isEqualTo("old");
        for (CompletableFuture<String> read : reads) {
            assertThat(result(read)).isEqualTo("old");
        }
        assertThat(loads).hasValue(0);
    }

    @Test
    void aBlockingReaderSharesTheirLoad() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<Void> entered = new CompletableFuture<>();
        CompletableFuture<String> read = cache.async().fetch(key, () -> {
            entered.complete(null);
            return work;
        });
        result(entered);
        Caller<String> other =
                Workbench.call(() -> cache.fetch(key, () -> "never")).awaitWaiting();
        work.complete("shared");

        assertThat(result(read)).isEqualTo("shared");
        assertThat(other.result()).isEqualTo("shared");
    }

    /** The other node stores while this one polls. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void waitForTheLoadOfAnotherNodeWithoutAThread(Consistency consistency) throws Exception {
        CacheKey<String> entry = Workbench.spec(consistency).key(1);
        GatedLoader<String> elsewhere = new GatedLoader<>(database::get);
        Caller<String> owner = Workbench.call(() -> bench.node().fetch(entry, elsewhere));
        elsewhere.awaitEntered();
        bench.clock.onPause(() -> {
            elsewhere.letGo();
            Awaitility.await().until(owner::isDone);
        });

        assertThat(result(read(cache, entry))).isEqualTo("old");
        assertThat(loads).hasValue(0);
        assertThat(elsewhere.loads()).isEqualTo(1);
    }

    @Test
    void loadWhenTheOtherNodeDoesNotStore() throws Exception {
        GatedLoader<String> elsewhere = new GatedLoader<>(() -> "never stored");
        Caller<String> owner = Workbench.call(() -> bench.node().fetch(key, elsewhere));
        elsewhere.awaitEntered();

        assertThat(result(read(cache, key))).isEqualTo("old");
        assertThat(loads).as("after the end of the lease").hasValue(1);
        elsewhere.letGo();
        owner.result();
    }

    /** The update is prepared elsewhere, and its row is not yet changed. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void nothingIsStoredDuringAnUpdate(Consistency consistency) throws Exception {
        CacheKey<String> entry = Workbench.spec(consistency).key(1);
        bench.node().update(List.of(entry), () -> {
            assertThat(result(read(cache, entry))).isEqualTo("old");
            database.set("new");
            return null;
        });

        assertThat(bench.store.parts(entry)).doesNotContain("value");
        assertThat(result(read(cache, entry))).isEqualTo("new");
    }

    /** The window is for the updates of other nodes. */
    @Test
    void anOwnUpdateIsNeverMissed() throws Exception {
        CacheKey<String> entry = window(Duration.ofMinutes(1)).key(1);
        assertThat(result(read(cache, entry))).isEqualTo("old");
        cache.update(List.of(entry), () -> database.getAndSet("new"));
        assertThat(result(read(cache, entry))).isEqualTo("new");

        bench.node().update(List.of(entry), () -> database.getAndSet("newer"));
        assertThat(result(read(node(only), entry))).as("elsewhere").isEqualTo("new");
    }

    /** A fill that overlaps an update of this node is dropped. */
    @Test
    void aReplyThatAnOwnUpdateHasOvertakenDoesNotEnterTheNearLevel() throws Exception {
        CacheKey<String> hot = near().key(1);
        assertThat(result(read(node(only), hot))).isEqualTo("old");
        assertThat(result(read(cache, key))).as("has read the epochs").isEqualTo("old");
        CompletableFuture<Void> free = new CompletableFuture<>();
        CompletableFuture<Void> replied = new CompletableFuture<>();
        bench.store.afterNext(Operation.READ, () -> replied.complete(null));
        only.execute(free::join);
        CompletableFuture<String> late = read(cache, hot);
        result(replied);
        cache.update(List.of(hot), () -> database.getAndSet("new"));
        free.complete(null);

        assertThat(result(late)).as("came before").isEqualTo("old");
        assertThat(result(read(cache, hot))).isEqualTo("new");
    }

    @Test
    void aStaleValueIsServedAndReloadedInTheBackground() throws Exception {
        CacheKey<String> entry = window(Duration.ofMinutes(1)).key(1);
        assertThat(result(read(cache, entry))).isEqualTo("old");
        bench.node().update(List.of(entry), () -> database.getAndSet("new"));
        bench.events.next();

        assertThat(result(read(cache, entry))).isEqualTo("old");
        assertThat(bench.events.next()).containsExactly("hit STALE");
        assertThat(bench.background.size()).isEqualTo(1);
        bench.background.runAll();
        assertThat(result(read(cache, entry))).isEqualTo("new");
    }

    @Test
    void anUnreadableValueIsLoadedAgain() throws Exception {
        bench.store.spoil(key, new byte[] {99});

        assertThat(result(read(cache, key))).isEqualTo("old");
        assertThat(result(read(node(only), key))).isEqualTo("old");
        assertThat(loads).hasValue(1);
    }

    static Stream<Arguments> everyFaultOfEveryOperation() {
        return UnavailableStoreTests.everyFaultOfEveryOperation();
    }

    @ParameterizedTest
    @MethodSource("everyFaultOfEveryOperation")
    void aFaultOfTheStoreLeavesOneLoad(Consistency consistency, Operation operation, Fault fault) throws Exception {
        CacheKey<String> entry = Workbench.spec(consistency).key(1);
        bench.store.fail(operation, fault);

        assertThat(result(read(cache, entry))).isEqualTo("old");
        assertThat(loads).hasValue(1);
    }

    @ParameterizedTest
    @MethodSource("everyFaultOfEveryOperation")
    void aFaultOfTheStoreMakesNothingStale(Consistency consistency, Operation operation, Fault fault) throws Exception {
        CacheKey<String> entry = Workbench.spec(consistency).key(1);
        bench.store.failNext(operation, fault);
        result(read(cache, entry));
        bench.store.back();
        database.set("new");
        cache.invalidate(entry);
        bench.clock.advance(entry.spec().options().staleWindow());

        assertThat(result(read(cache, entry))).isEqualTo("new");
        bench.clock.advance(entry.spec().options().loadLease());
        assertThat(result(read(node(only), entry))).isEqualTo("new");
    }

    /** Five failures of the store in a row. */
    @Test
    void theirFailuresCountForTheCircuitBreaker() throws Exception {
        bench.store.fail(Operation.READ, Fault.LOST_REQUEST);
        for (int i = 0; i < 100; i++) {
            result(read(cache, Workbench.ap().key("away", i)));
        }

        assertThat(Objects.requireNonNull(cache.availability("default")).state())
                .isEqualTo(State.UNAVAILABLE);
        assertThat(bench.store.count(Operation.READ)).isLessThan(100);
    }

    /** Its waiting time is over: it loads beside the running load, and stores nothing. */
    @Test
    void anOverdueReaderLoadsForItself() throws Exception {
        CacheSpec<String> spec = Workbench.ap();
        CacheKey<String> impatient = spec.withOptions(spec.options().toBuilder()
                        .loadWaitTimeout(Duration.ofMillis(1))
                        .build())
                .key(1);
        CompletableFuture<String> never = new CompletableFuture<>();
        CompletableFuture<Void> entered = new CompletableFuture<>();
        CompletableFuture<String> stuck = cache.async().fetch(impatient, () -> {
            entered.complete(null);
            return never;
        });
        result(entered);

        assertThat(result(read(cache, impatient))).isEqualTo("old");
        assertThat(stuck).isNotDone();
        assertThat(loads).hasValue(1);
        never.complete("late");
        assertThat(result(stuck)).isEqualTo("late");
    }

    /** Without a thread for its next step a load ends, and the next reader does not wait for it. */
    @Test
    void aRejectedStepEndsItsLoad() throws Exception {
        AtomicBoolean stopped = new AtomicBoolean();
        EasyCacheEngine node = node(step -> {
            if (stopped.get()) {
                throw new RejectedExecutionException("stopped");
            }
            only.execute(step);
        });
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<Void> entered = new CompletableFuture<>();
        CompletableFuture<String> first = node.async().fetch(key, () -> {
            entered.complete(null);
            return work;
        });
        result(entered);
        requireIdle();
        stopped.set(true);
        work.complete("never stored");
        assertThat(failure(first)).isInstanceOf(RejectedExecutionException.class);
        assertThat(failure(read(node, key))).isInstanceOf(RejectedExecutionException.class);
        stopped.set(false);

        assertThat(result(read(node, key))).isEqualTo("old");
    }

    /** The read must not run in it: its loader is called on another thread. */
    @Test
    void aTransactionOfTheCallerIsNotSeen() throws Exception {
        bench.transactions.begin();
        try {
            assertThat(result(read(cache, key))).isEqualTo("old");
        } finally {
            bench.transactions.rollback();
        }
        assertThat(bench.store.parts(key)).contains("value");
    }

    private final class Checked implements Loader.Later<String> {

        private final RuntimeException refusal;

        Checked(@Nullable RuntimeException refusal) {
            this.refusal = refusal;
        }

        @Override
        public boolean mayBeCached() {
            if (refusal != null) {
                throw refusal;
            }
            return false;
        }

        @Override
        public CompletionStage<String> begin() {
            return AsyncReadTests.this.load();
        }

        @Override
        public String load() {
            return begin().toCompletableFuture().join();
        }
    }

    @ParameterizedTest
    @EnumSource(State.class)
    void aReadThatMayNotBeCachedIsLoadedOrRefused(State store) throws Exception {
        IllegalArgumentException refusal = new IllegalArgumentException("another tenant");
        Objects.requireNonNull(cache.availability("default")).force(store);
        assertThat(result(cache.async().fetch(key, new Checked(null), any -> true)))
                .isEqualTo("old");
        assertThat(failure(cache.async().fetch(key, new Checked(refusal), any -> true)))
                .isSameAs(refusal);
        assertThat(loads).hasValue(1);
        assertThat(bench.store.parts(key)).isEmpty();

        assertThat(result(read(cache, key))).isEqualTo("old");
        assertThat(loads).as("of what is kept").hasValue(2);
        assertThat(result(cache.async().fetch(key, new Checked(refusal), any -> true)))
                .as("a hit calls no loader")
                .isEqualTo("old");
    }

    /** The store counts as available, so the failed call is the only one. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void aReadWhoseCallOfTheStoreFailsIsCheckedToo(Consistency consistency) throws Exception {
        CacheKey<String> entry = Workbench.spec(consistency).key(1);
        IllegalArgumentException refusal = new IllegalArgumentException("another tenant");
        bench.store.failNext(Operation.READ, Fault.LOST_REQUEST);
        assertThat(failure(cache.async().fetch(entry, new Checked(refusal), any -> true)))
                .isSameAs(refusal);
        assertThat(loads).hasValue(0);

        bench.store.failNext(Operation.READ, Fault.LOST_REQUEST);
        assertThat(result(cache.async().fetch(entry, new Checked(null), any -> true)))
                .isEqualTo("old");
        assertThat(loads).hasValue(1);
        assertThat(bench.store.parts(entry)).isEmpty();
    }

    /** The thread goes on with other work while the value is on its way. */
    @Test
    void theObserverOfALoadLeavesItsThread() throws Exception {
        List<String> events = new CopyOnWriteArrayList<>();
        AtomicReference<Thread> began = new AtomicReference<>();
        EasyCacheEngine observed = bench.builder(new JacksonValueCodec())
                .async(only)
                .loadObserver(any -> {
                    events.add("begin");
                    began.set(Thread.currentThread());
                    return new LoadObserver.Observed() {
                        @Override
                        public void leave() {
                            events.add(Thread.currentThread() == began.get() ? "leave" : "leave elsewhere");
                        }

                        @Override
                        public void end(io.easykit.cache.CacheListener.Load outcome, @Nullable Throwable failure) {
                            events.add("end " + outcome);
                        }
                    };
                })
                .buildStopped();
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> read = observed.async().fetch(key, () -> work);
        Awaitility.await().until(() -> events.contains("leave"));
        work.complete("value");

        assertThat(result(read)).isEqualTo("value");
        assertThat(events).containsExactly("begin", "leave", "end STORED");
    }
}
