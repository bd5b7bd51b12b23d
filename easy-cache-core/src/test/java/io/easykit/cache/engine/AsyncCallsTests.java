package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.easykit.cache.AsyncEasyCache;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOrderTimeoutException;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CachedValue;
import io.easykit.cache.Consistency;
import io.easykit.cache.EasyCache;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.SerialOptions;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The calls that do not block the thread of their caller. */
class AsyncCallsTests {

    private final Workbench bench = workbench();
    private final EasyCacheEngine cache = bench.node();
    private final AsyncEasyCache async = cache.async();
    private final CacheKey<String> key = Workbench.ap().key(1);
    private final AtomicReference<String> database = new AtomicReference<>("old");
    private final AtomicInteger loads = new AtomicInteger();

    /** The store answers on the thread of its caller. */
    Workbench workbench() {
        return new Workbench();
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
        return CompletableFuture.supplyAsync(database::get);
    }

    /** The same entries as those of the blocking calls. */
    @Test
    void storeTheValueOfTheFuture() throws Exception {
        assertThat(result(async.fetch(key, this::load))).isEqualTo("old");
        assertThat(cache.fetch(key, () -> "never")).isEqualTo("old");
        assertThat(result(async.fetch(key, this::load))).isEqualTo("old");
        CachedValue<String> cached = result(async.peek(key));

        assertThat(cached).isNotNull();
        assertThat(cached.value()).isEqualTo("old");
        assertThat(loads).hasValue(1);
    }

    @Test
    void storeNothingForAFutureOfNullAndForNoFuture() throws Exception {
        CacheKey<String> other = Workbench.ap().key(2);
        assertThat(result(async.<String>fetch(key, () -> CompletableFuture.completedFuture(null))))
                .isNull();
        assertThat(result(async.<String>fetch(other, () -> null))).isNull();

        assertThat(cache.fetch(key, () -> "never")).as("nothing is cached").isNull();
        assertThat(cache.fetch(other, () -> "never")).isNull();
    }

    @Test
    void storeOnlyWhatIsStorable() throws Exception {
        assertThat(result(async.fetch(key, this::load, any -> false))).isEqualTo("old");
        assertThat(result(async.fetch(key, this::load))).isEqualTo("old");

        assertThat(loads).hasValue(2);
    }

    /** The future of a stage wraps the exception of an earlier stage. */
    @Test
    void failWithTheVeryExceptionOfTheLoader() {
        IOException failure = new IOException("no row");
        IllegalStateException early = new IllegalStateException("no future");

        assertThat(failure(async.fetch(key, () -> CompletableFuture.failedFuture(failure))))
                .isSameAs(failure);
        assertThat(failure(async.fetch(key, () -> CompletableFuture.<String>failedFuture(failure)
                        .thenApply(any -> any))))
                .isSameAs(failure);
        assertThat(failure(async.fetch(key, () -> {
                    throw early;
                })))
                .isSameAs(early);
        assertThat(failure(async.update(List.of(key), () -> CompletableFuture.failedFuture(failure))))
                .isSameAs(failure);
    }

    /** The reader has read the old value, then all of the update happens, then the reader stores. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void storeNothingThatAnUpdateHasOvertaken(Consistency consistency) throws Exception {
        CacheKey<String> race = Workbench.spec(consistency).key("race");
        CompletableFuture<Void> mayEnd = new CompletableFuture<>();
        CompletableFuture<Void> entered = new CompletableFuture<>();
        CompletableFuture<String> read = async.fetch(race, () -> {
            String old = database.get();
            entered.complete(null);
            return loads.getAndIncrement() == 0 ? mayEnd.thenApply(any -> old) : CompletableFuture.completedFuture(old);
        });
        result(entered);

        result(async.update(List.of(race), () -> CompletableFuture.runAsync(() -> database.set("new"))));
        mayEnd.complete(null);

        assertThat(result(read)).isEqualTo(consistency == Consistency.AP ? "old" : "new");
        assertThat(result(async.fetch(race, this::load))).isEqualTo("new");
        assertThat(bench.node().fetch(race, database::get)).isEqualTo("new");
    }

    /** Until its future ends, an update is prepared and not invalidated. */
    @Test
    void updateUntilTheFutureEnds() throws Exception {
        assertThat(result(async.fetch(key, this::load))).isEqualTo("old");
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<Thread> entered = new CompletableFuture<>();
        int invalidations = bench.store.count(Operation.INVALIDATE);
        CompletableFuture<String> update = async.update(List.of(key), () -> {
            assertThat(bench.store.count(Operation.PREPARE)).isEqualTo(1);
            entered.complete(Thread.currentThread());
            return work;
        });
        Thread thread = result(entered);
        Awaitility.await().until(() -> thread.getState() == Thread.State.WAITING);

        assertThat(update).isNotDone();
        assertThat(bench.store.count(Operation.INVALIDATE)).isEqualTo(invalidations);
        work.complete("done");
        assertThat(result(update)).isEqualTo("done");
        assertThat(bench.store.count(Operation.INVALIDATE)).isEqualTo(invalidations + 1);
    }

    @Test
    void invalidateAfterAFailedUpdateToo() throws Exception {
        CacheKey<String> strong = Workbench.cp().key(1);
        assertThat(result(async.fetch(strong, this::load))).isEqualTo("old");
        CompletableFuture<String> update = async.update(List.of(strong), () -> {
            database.set("new");
            return CompletableFuture.failedFuture(new IOException("after the commit"));
        });

        assertThat(failure(update)).isInstanceOf(IOException.class);
        assertThat(bench.node().fetch(strong, database::get)).isEqualTo("new");
    }

    /** Its work goes on, and the entry has to be invalidated after it. */
    @Test
    void updateUntilTheFutureEndsAlsoAfterAnInterrupt() throws Exception {
        AtomicReference<Thread> thread = new AtomicReference<>();
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<Void> entered = new CompletableFuture<>();
        CompletableFuture<String> update = async.update(List.of(key), () -> {
            thread.set(Thread.currentThread());
            entered.complete(null);
            return work;
        });
        result(entered);
        thread.get().interrupt();
        Awaitility.await().until(() -> !thread.get().isInterrupted());

        assertThat(update).isNotDone();
        assertThat(bench.store.count(Operation.INVALIDATE)).isZero();
        work.complete("done");
        assertThat(result(update)).isEqualTo("done");
        assertThat(bench.store.count(Operation.INVALIDATE)).isEqualTo(1);
    }

    @Test
    void goOnAfterTheirFutureIsCancelled() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<Void> entered = new CompletableFuture<>();
        CompletableFuture<String> first = async.fetch(key, () -> {
            loads.incrementAndGet();
            entered.complete(null);
            return work;
        });
        result(entered);
        CompletableFuture<String> second = async.fetch(key, this::load);
        assertThat(first.cancel(true)).isTrue();
        work.complete("shared");

        assertThat(result(second)).isEqualTo("shared");
        assertThat(loads).hasValue(1);
    }

    /** One thread makes all calls and has time for another task, while no load has ended. */
    @Test
    void blockNoThreadOfTheirCaller() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        List<CompletableFuture<String>> reads = new CopyOnWriteArrayList<>();
        ExecutorService caller = Executors.newSingleThreadExecutor();
        try {
            for (int i = 0; i < 100; i++) {
                CacheKey<String> cold = Workbench.ap().key("cold", i);
                caller.execute(() -> reads.add(async.fetch(cold, () -> work)));
                caller.execute(() -> reads.add(async.update(List.of(cold), () -> work)));
            }
            caller.submit(() -> {}).get(30, TimeUnit.SECONDS);
            assertThat(reads).hasSize(200).noneMatch(CompletableFuture::isDone);
            work.complete("done");
            for (CompletableFuture<String> read : reads) {
                assertThat(result(read)).isEqualTo("done");
            }
        } finally {
            caller.shutdownNow();
        }
    }

    private CompletableFuture<String> nested(int depth) {
        return depth == 0
                ? CompletableFuture.completedFuture("deep")
                : async.fetch(Workbench.ap().key("nested", depth), () -> nested(depth - 1));
    }

    @Test
    void mayBeNested() throws Exception {
        assertThat(result(nested(20))).isEqualTo("deep");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void mayReadTheirOwnKey(Consistency consistency) throws Exception {
        CacheSpec<String> spec = Workbench.spec(consistency);
        CacheKey<String> own = spec.withOptions(spec.options().toBuilder()
                        .loadWaitTimeout(Duration.ofMinutes(1))
                        .build())
                .key("own");
        assertThat(result(async.fetch(own, () -> async.fetch(own, this::load).thenApply(inner -> "outer of " + inner))))
                .isEqualTo("outer of old");
    }

    /** A value inside its stale window may not become part of another value. */
    @Test
    void belongToTheLoadOfTheirCaller() throws Exception {
        CacheSpec<String> window = Workbench.ap()
                .withOptions(Workbench.ap().options().toBuilder()
                        .staleWindow(Duration.ofMinutes(1))
                        .build());
        CacheKey<String> inner = window.key("inner");
        assertThat(cache.fetch(inner, database::get)).isEqualTo("old");
        bench.node().update(List.of(inner), () -> database.getAndSet("new"));

        assertThat(result(async.fetch(inner, this::load))).as("stale").isEqualTo("old");
        assertThat(result(async.fetch(Workbench.ap().key("outer"), () -> async.fetch(inner, this::load))))
                .isEqualTo("new");
    }

    /** The threads of such a pool know no load, so each of their reads is strict while one runs. */
    @Test
    void areStrictIfAForkJoinThreadCallsThemInsideALoad() throws Exception {
        CacheSpec<String> window = Workbench.ap()
                .withOptions(Workbench.ap().options().toBuilder()
                        .staleWindow(Duration.ofMinutes(1))
                        .build());
        CacheKey<String> inner = window.key("inner");
        assertThat(cache.fetch(inner, database::get)).isEqualTo("old");
        bench.node().update(List.of(inner), () -> database.getAndSet("new"));
        ForkJoinPool pool = new ForkJoinPool(1);
        try {
            CompletableFuture<String> outside = readOn(pool, inner);
            assertThat(result(outside)).as("stale outside of loads").isEqualTo("old");

            assertThat(result(async.fetch(Workbench.ap().key("outer"), () -> readOn(pool, inner))))
                    .isEqualTo("new");
        } finally {
            pool.shutdownNow();
        }
    }

    private CompletableFuture<String> readOn(ForkJoinPool pool, CacheKey<String> inner) {
        return CompletableFuture.completedFuture(inner).thenComposeAsync(one -> async.fetch(one, this::load), pool);
    }

    /** Such a stage is allowed to have no future. */
    @Test
    void waitForAStageThatIsNoFuture() throws Exception {
        IOException failure = new IOException("no row");
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> read = async.fetch(key, () -> withoutFuture(work));
        work.complete("value");

        assertThat(result(read)).isEqualTo("value");
        assertThat(result(
                        async.update(List.of(key), () -> withoutFuture(CompletableFuture.completedFuture("updated")))))
                .isEqualTo("updated");
        assertThat(failure(async.fetch(
                        key,
                        () -> withoutFuture(
                                CompletableFuture.<String>failedFuture(failure).thenApply(a -> a)))))
                .isSameAs(failure);
    }

    @SuppressWarnings("unchecked") // the interface of the proxy
    private static <T> CompletionStage<T> withoutFuture(CompletionStage<T> stage) {
        return (CompletionStage<T>) Proxy.newProxyInstance(
                AsyncCallsTests.class.getClassLoader(),
                new Class<?>[] {CompletionStage.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("toCompletableFuture")) {
                        throw new UnsupportedOperationException("no future");
                    }
                    return method.invoke(stage, arguments);
                });
    }

    /** As when the system has no thread left, or a decorator of the task fails. */
    @Test
    void endWithARejectionIfTheirThreadCannotBeStarted() {
        Error cause = new Error("unable to create native thread");
        EasyCacheEngine exhausted = bench.builder(new JacksonValueCodec())
                .async(task -> {
                    throw cause;
                })
                .buildStopped();

        assertThat(failure(exhausted.async().fetch(key, this::load)))
                .isInstanceOf(RejectedExecutionException.class)
                .hasCause(cause);
        assertThat(loads).hasValue(0);
    }

    @Test
    void runNothingWithoutAThread() {
        EasyCacheEngine stopped = bench.builder(new JacksonValueCodec())
                .async(task -> {
                    throw new RejectedExecutionException("stopped");
                })
                .buildStopped();

        assertThat(failure(stopped.async().fetch(key, this::load))).isInstanceOf(RejectedExecutionException.class);
        assertThat(failure(stopped.async().update(List.of(key), this::load)))
                .isInstanceOf(RejectedExecutionException.class);
        assertThat(loads).hasValue(0);
    }

    @Test
    void fetchSeveralByOneCall() throws Exception {
        List<Collection<Integer>> calls = new CopyOnWriteArrayList<>();
        cache.fetch(Workbench.ap().key(2), () -> "two");
        List<Integer> ids = new ArrayList<>(List.of(1, 2, 3, 1));
        CompletableFuture<Map<Integer, String>> found = async.fetchAll(Workbench.ap(), ids, missing -> {
            calls.add(missing);
            return CompletableFuture.completedFuture(Map.of(1, "one"));
        });
        ids.clear();

        assertThat(result(found)).isEqualTo(Map.of(1, "one", 2, "two"));
        assertThat(calls).containsExactly(List.of(1, 3));
        assertThat(cache.fetch(key, () -> "never")).isEqualTo("one");
        assertThat(failure(async.fetchAll(Workbench.ap(), List.of(7), missing -> null)))
                .isInstanceOf(InvalidCacheKeyException.class)
                .hasMessageContaining("null instead of a map");
    }

    @Test
    void invalidateAndClear() throws Exception {
        cache.fetch(key, () -> "old");
        result(async.invalidate(key));
        assertThat(cache.fetch(key, () -> "new")).isEqualTo("new");
        result(async.invalidateAll(Workbench.ap()));
        assertThat(cache.fetch(key, () -> "newest")).isEqualTo("newest");
    }

    /** A reader may store the old row between the call and the commit. */
    @Test
    void invalidateWithTheTransactionOfTheirCaller() throws Exception {
        CacheKey<String> strong = Workbench.cp().key(1);
        bench.transactions.begin();
        result(async.invalidate(strong));
        CompletableFuture<String> meanwhile = async.fetch(strong, this::load);
        assertThat(result(meanwhile)).as("stored before the commit").isEqualTo("old");
        bench.transactions.commit(() -> database.set("new"));

        assertThat(bench.node().fetch(strong, database::get)).isEqualTo("new");
    }

    /** The thread of the cache would not see that transaction. */
    @Test
    void invalidateInATransactionWhoseEndIsHidden() throws Exception {
        bench.transactions.beginHidden();
        result(async.invalidate(key));

        assertThat(bench.store.parts(key)).containsExactly("intents");
    }

    /** Work on the connection is committed when that is given back. */
    @Test
    void invalidateAfterALateCommit() throws Exception {
        bench.transactions.keepOwnConnection();
        result(async.invalidate(key));
        assertThat(result(async.fetch(key, this::load))).isEqualTo("old");
        assertThat(bench.store.parts(key)).as("prepared").containsExactly("intents");

        database.set("new");
        bench.transactions.giveBackConnection();
        assertThat(cache.fetch(key, database::get)).isEqualTo("new");
        bench.clock.advance(key.spec().options().updateLease());
        assertThat(bench.node().fetch(key, database::get)).isEqualTo("new");
    }

    @Test
    void pollNoThreadOfTheCallerWhileTheStoreIsSlow() throws Exception {
        Held slow = bench.store.hold(Operation.FETCH);
        CompletableFuture<String> read = async.fetch(key, this::load);
        slow.awaitReached();
        assertThat(read).isNotDone();
        slow.release();
        assertThat(result(read)).isEqualTo("old");
    }

    private static CacheSpec<String> serial(Duration wait) {
        return Workbench.ap()
                .withOptions(Workbench.ap().options().toBuilder()
                        .serial(SerialOptions.defaults().withMaxWait(wait))
                        .build());
    }

    /** The turn is that of the thread of the cache. The action begins and commits its own transaction. */
    @Test
    void runInOrder() throws Exception {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        AsyncEasyCache calls = bench.builder(new JacksonValueCodec())
                .async(task -> {
                    Thread thread = new Thread(task);
                    threads.add(thread);
                    thread.start();
                })
                .buildStopped()
                .async();
        CacheKey<String> turn = serial(Duration.ofMinutes(1)).key(1);
        List<String> done = new CopyOnWriteArrayList<>();
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<Void> entered = new CompletableFuture<>();
        CompletableFuture<String> first = calls.update(List.of(turn), () -> {
            entered.complete(null);
            return work.whenComplete((any, failure) -> done.add("write"));
        });
        result(entered);
        CompletableFuture<String> second = calls.fetch(turn, () -> {
            done.add("read");
            return CompletableFuture.completedFuture("value");
        });
        Awaitility.await().until(() -> threads.size() == 2 && threads.get(1).getState() == Thread.State.TIMED_WAITING);

        assertThat(second).isNotDone();
        work.complete("done");
        assertThat(result(first)).isEqualTo("done");
        assertThat(result(second)).isEqualTo("value");
        assertThat(done).containsExactly("write", "read");
        assertThat(bench.transactions.own()).isEmpty();
    }

    /** The thread of the inner call was created by the action that has the turn. */
    @Test
    void mayUseTheirOwnKeyInTheirTurn() throws Exception {
        CacheKey<String> turn = serial(Duration.ofMinutes(1)).key(1);

        assertThat(result(async.update(List.of(turn), () -> async.fetch(turn, this::load))))
                .isEqualTo("old");
    }

    @Test
    void neverRunIfTheirTurnDoesNotCome() throws Exception {
        CacheKey<String> turn = serial(Duration.ofMillis(1)).key(1);
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<Void> entered = new CompletableFuture<>();
        CompletableFuture<String> first = async.update(List.of(turn), () -> {
            entered.complete(null);
            return work;
        });
        result(entered);

        assertThat(failure(async.update(List.of(turn), this::load))).isInstanceOf(CacheOrderTimeoutException.class);
        assertThat(loads).hasValue(0);
        work.complete("done");
        assertThat(result(first)).isEqualTo("done");
    }

    /** They run on the thread of the caller. */
    @Test
    void passThroughACacheThatIsSwitchedOff() throws Exception {
        EasyCache off =
                EasyCacheEngine.builder(new JacksonValueCodec()).disabled().build();
        AtomicReference<Thread> thread = new AtomicReference<>();
        IOException failure = new IOException("no row");
        CompletableFuture<String> pending = new CompletableFuture<>();
        CompletableFuture<String> read = off.async().fetch(key, () -> {
            thread.set(Thread.currentThread());
            return pending;
        });
        assertThat(thread.get()).isSameAs(Thread.currentThread());
        assertThat(read).isNotDone();
        pending.complete("value");

        assertThat(result(read)).isEqualTo("value");
        assertThat(result(off.async().<String>update(List.of(key), () -> null))).isNull();
        assertThat(result(off.async().peek(key))).isNull();
        assertThat(result(off.async().invalidate(key))).isNull();
        assertThat(failure(off.async().fetch(key, () -> CompletableFuture.<String>failedFuture(failure)
                        .thenApply(a -> a))))
                .isSameAs(failure);
        assertThat(result(off.async()
                        .fetchAll(
                                Workbench.ap(),
                                List.of(2, 1, 2),
                                ids -> CompletableFuture.completedFuture(Map.of(1, "a", 2, "b" + ids)))))
                .isEqualTo(Map.of(2, "b[2, 1]", 1, "a"));
        NoClassDefFoundError error = new NoClassDefFoundError("of a value");
        Map<Integer, String> broken = new AbstractMap<>() {
            @Override
            public Set<Entry<Integer, String>> entrySet() {
                throw error;
            }
        };
        assertThat(failure(off.async()
                        .fetchAll(Workbench.ap(), List.of(1), ids -> CompletableFuture.completedFuture(broken))))
                .isSameAs(error);
        assertThat(failure(off.async().fetchAll(Workbench.ap(), Arrays.asList(1, null), ids -> null)))
                .isInstanceOf(InvalidCacheKeyException.class);
    }

    @Test
    void runManyColdKeysOnce() throws Exception {
        List<CompletableFuture<String>> reads = IntStream.range(0, 300)
                .mapToObj(i -> async.fetch(Workbench.ap().key("many", i % 100), this::load))
                .toList();
        for (CompletableFuture<String> read : reads) {
            assertThat(result(read)).isEqualTo("old");
        }
        assertThat(loads).hasValue(100);
    }
}
