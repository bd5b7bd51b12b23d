package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener.Hit;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.Consistency;
import io.easykit.cache.InvalidCacheOptionsException;
import io.easykit.cache.Loader;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Operation;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The database is dead, and readers get expired values for a while. */
@Timeout(60)
class StaleOnErrorTests {

    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Duration KEPT = Duration.ofSeconds(20);
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final AtomicInteger trials = new AtomicInteger();
    private final CacheKey<String> key = spec(StaleOnErrorOptions.keptFor(KEPT)).key(1);

    static final class DeadDatabase extends IllegalStateException {

        private static final long serialVersionUID = 1L;

        DeadDatabase() {
            super("no database");
        }
    }

    static final class NotFound extends RuntimeException {

        private static final long serialVersionUID = 1L;
    }

    private static CacheSpec<String> spec(StaleOnErrorOptions staleOnError) {
        CacheSpec<String> spec = Workbench.ap();
        CacheOptions options = spec.options().toBuilder()
                .ttl(TTL)
                .refreshAhead(Duration.ZERO)
                .staleOnError(staleOnError)
                .build();
        return spec.withOptions(options);
    }

    private String fail() {
        trials.incrementAndGet();
        throw new DeadDatabase();
    }

    private void expire(CacheKey<String> stored) {
        cache.fetch(stored, () -> "old");
        bench.clock.advance(TTL);
        bench.events.next();
    }

    /** Thirty seconds without a database, with a reader each 100 ms. */
    @Test
    void returnsExpiredValuesForTheAllowedTimeAndThenTheException() {
        expire(key);
        List<String> answers = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            answers.add(answer());
            bench.clock.advance(Duration.ofMillis(100));
        }

        assertThat(answers.subList(0, 200)).containsOnly("old");
        assertThat(answers.subList(200, 300)).containsOnly("no database");
        assertThat(trials.get() - 100).as("trials in twenty seconds").isBetween(18, 20);
        assertThat(bench.events.next().stream().filter("hit EXPIRED"::equals)).hasSize(200);

        assertThat(cache.fetch(key, () -> "new")).isEqualTo("new");
        assertThat(cache.fetch(key, this::fail)).isEqualTo("new");
    }

    private String answer() {
        try {
            return cache.fetch(key, this::fail);
        } catch (DeadDatabase dead) {
            return dead.getMessage();
        }
    }

    @Test
    void countsOneHitAndNoMiss() {
        expire(key);
        assertThat(cache.fetch(key, this::fail)).isEqualTo("old");
        assertThat(bench.events.next()).containsExactly("load FAILED", "hit EXPIRED");
        assertThat(cache.fetch(key, this::fail)).isEqualTo("old");
        assertThat(bench.events.next()).containsExactly("hit EXPIRED");
        assertThat(cache.admin().caches().get(0).numbers().expired()).isEqualTo(2);
        bench.clock.advance(SECOND);
        assertThat(cache.fetch(key, () -> "new")).isEqualTo("new");
        assertThat(bench.events.next()).containsExactly("load STORED", "miss");
        bench.clock.advance(TTL.plus(KEPT));
        assertThatThrownBy(() -> cache.fetch(key, this::fail)).isInstanceOf(DeadDatabase.class);
        assertThat(bench.events.next()).containsExactly("load FAILED", "miss");
    }

    @Test
    void triesOnceASecondAndFindsTheDatabaseBack() {
        expire(key);
        cache.fetch(key, this::fail);
        assertThat(cache.fetch(key, () -> "too early")).isEqualTo("old");
        bench.clock.advance(SECOND);
        assertThat(cache.fetch(key, () -> "new")).isEqualTo("new");
        assertThat(trials).hasValue(1);
    }

    @Test
    void logsOneWarningAndWhenLoadsSucceedAgain() {
        expire(key);
        try (LogCapture log = LogCapture.of(FailedLoads.class)) {
            for (int i = 0; i < 15; i++) {
                cache.fetch(key, this::fail);
                bench.clock.advance(SECOND);
            }
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .contains("name::1", "no database", "'stale-on-error'", "Check the cached method and its database");
            cache.fetch(key, () -> "new");
            assertThat(log.infos()).containsExactly("Loads succeed again, after 15 expired values were returned");
        }
    }

    @Test
    void givesTheValueThatAnotherNodeHasLoadedDuringThePause() {
        expire(key);
        cache.fetch(key, this::fail);
        assertThat(bench.node().fetch(key, () -> "new")).isEqualTo("new");
        bench.events.next();

        assertThat(cache.fetch(key, this::fail)).isEqualTo("new");

        assertThat(bench.events.next()).containsExactly("hit FRESH");
        assertThat(trials).hasValue(1);
    }

    @Test
    void triesOnceForManyReadersOfOneLoad() throws Exception {
        expire(key);
        CountDownLatch all = new CountDownLatch(1);
        Loader<String, RuntimeException> slow = () -> {
            awaitQuietly(all);
            return fail();
        };
        List<Caller<String>> readers = Workbench.call(64, () -> cache.fetch(key, slow));
        readers.forEach(Caller::awaitWaiting);
        all.countDown();
        for (Caller<String> reader : readers) {
            assertThat(reader.result()).isEqualTo("old");
        }
        assertThat(trials).hasValue(1);
        assertThat(bench.events.next()).filteredOn("hit EXPIRED"::equals).hasSize(64);
    }

    /** Their loads would begin after the failed one: its failure is too old for them. */
    @Test
    void triesOnceForReadersThatCameLongAfterTheLoadBegan() throws Exception {
        expire(key);
        CountDownLatch all = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        Loader<String, RuntimeException> slow = () -> {
            begun.countDown();
            awaitQuietly(all);
            return fail();
        };
        Caller<String> first = Workbench.call(() -> cache.fetch(key, slow));
        begun.await();
        bench.clock.advance(Duration.ofMillis(1600));
        List<Caller<String>> late = Workbench.call(20, () -> cache.fetch(key, slow));
        late.forEach(Caller::awaitWaiting);
        all.countDown();
        assertThat(first.result()).isEqualTo("old");
        for (Caller<String> reader : late) {
            assertThat(reader.result()).isEqualTo("old");
        }
        assertThat(trials).hasValue(1);
    }

    @Test
    void neverReturnsAnInvalidatedValue() {
        expire(key);
        cache.fetch(key, this::fail);
        bench.node().invalidate(key);
        for (int i = 0; i < 5; i++) {
            assertThatThrownBy(() -> cache.fetch(key, this::fail)).isInstanceOf(DeadDatabase.class);
        }
        assertThat(trials).as("no pause without a value").hasValue(6);
    }

    @Test
    void neverReturnsAValueThatIsInvalidatedDuringTheFailingLoad() {
        expire(key);
        EasyCacheEngine other = bench.node();
        assertThatThrownBy(() -> cache.fetch(key, () -> {
                    other.invalidate(key);
                    return fail();
                }))
                .isInstanceOf(DeadDatabase.class);
    }

    @Test
    void neverReturnsAValueThatIsUnderAnUpdate() {
        expire(key);
        cache.fetch(key, this::fail);
        EasyCacheEngine other = bench.node();
        other.update(List.of(key), () -> {
            assertThatThrownBy(() -> cache.fetch(key, this::fail)).isInstanceOf(DeadDatabase.class);
            return null;
        });
    }

    @Test
    void neverReturnsAValueOfTheTimeBeforeAClearing() {
        expire(key);
        cache.fetch(key, this::fail);
        bench.clock.advance(Duration.ofMillis(1500));
        bench.node().invalidate(key.spec().all());
        assertThatThrownBy(() -> cache.fetch(key, this::fail)).isInstanceOf(DeadDatabase.class);
    }

    @Test
    void returnsNothingWhileTheCacheIsBeingCleared() {
        expire(key);
        bench.clock.advance(Duration.ofMillis(1500));
        EasyCacheEngine other = bench.node();
        other.update(List.of(key.spec().all()), () -> {
            assertThatThrownBy(() -> cache.fetch(key, this::fail)).isInstanceOf(DeadDatabase.class);
            return null;
        });
    }

    /** The store still has the value, for the invalidation did not reach it. */
    @Test
    void neverReturnsAValueWhoseInvalidationOfThisNodeIsPending() {
        expire(key);
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        cache.invalidate(key);
        assertThatThrownBy(() -> cache.fetch(key, this::fail)).isInstanceOf(DeadDatabase.class);
        assertThat(bench.store.parts(key)).contains("value");
    }

    /** As above, but while the load runs. */
    @Test
    void neverReturnsAValueWhoseInvalidationOfThisNodeWasLostDuringTheFailingLoad() throws Exception {
        expire(key);
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        assertThatThrownBy(() -> cache.fetch(key, () -> {
                    Workbench.call(() -> {
                                cache.invalidate(key);
                                return true;
                            })
                            .result();
                    return fail();
                }))
                .isInstanceOf(DeadDatabase.class);
        assertThat(bench.store.parts(key)).contains("value");
    }

    @Test
    void neverReturnsAValueThatThisNodeHasUpdatedJustNow() {
        expire(key);
        cache.update(List.of(key), () -> null);
        assertThatThrownBy(() -> cache.fetch(key, this::fail)).isInstanceOf(DeadDatabase.class);
    }

    @Test
    void givesAnExpiredValueToNoLoad() {
        CacheKey<String> outer = key.spec().key("outer");
        expire(key);
        assertThatThrownBy(() -> cache.fetch(outer, () -> cache.fetch(key, this::fail)))
                .isInstanceOf(DeadDatabase.class);
        assertThat(bench.store.parts(outer)).doesNotContain("value");
    }

    @Test
    void givesAnExpiredValueInsideNoTransaction() {
        expire(key);
        bench.transactions.begin();
        assertThatThrownBy(() -> cache.fetch(key, this::fail)).isInstanceOf(DeadDatabase.class);
        bench.transactions.rollback();
        assertThat(cache.fetch(key, this::fail)).isEqualTo("old");
    }

    @Test
    void passesErrorsInterruptsAndFailuresOfTheCache() {
        expire(key);
        assertThatExceptionOfType(StackOverflowError.class)
                .isThrownBy(() -> cache.fetch(key, () -> {
                    throw new StackOverflowError();
                }));
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> cache.fetch(key, () -> {
                    throw new AssertionError();
                }));
        assertThatExceptionOfType(InterruptedException.class)
                .isThrownBy(() -> cache.fetch(key, () -> {
                    throw new InterruptedException();
                }));
        assertThatExceptionOfType(CacheUnavailableException.class)
                .isThrownBy(() -> cache.fetch(key, () -> {
                    throw new CacheUnavailableException("other", "away", new IOException());
                }));
        assertThatExceptionOfType(DeadDatabase.class)
                .isThrownBy(() -> cache.fetch(key, () -> {
                    Thread.currentThread().interrupt();
                    return fail();
                }));
        assertThat(Thread.interrupted()).isTrue();
        assertThat(cache.fetch(key, this::fail))
                .as("none of them began a pause")
                .isEqualTo("old");
        assertThat(trials).hasValue(2);
    }

    @Test
    void passesTheAnswersOfTheBusiness() {
        CacheKey<String> own = spec(StaleOnErrorOptions.keptFor(KEPT).withExcept(Set.of(NotFound.class)))
                .key(1);
        expire(own);
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> cache.fetch(own, () -> {
                        trials.incrementAndGet();
                        throw new NotFound();
                    }))
                    .isInstanceOf(NotFound.class);
        }
        assertThat(trials).hasValue(3);
        assertThat(cache.fetch(own, this::fail)).isEqualTo("old");
    }

    /** They are no failures of the source. */
    @Test
    void passesErrorsAndExceptionsOfTheCacheThatAreWrapped() {
        expire(key);
        for (Throwable own :
                List.of(new OutOfMemoryError("test"), new CacheUnavailableException("default", "test", null))) {
            assertThatThrownBy(() -> cache.fetch(key, () -> {
                        throw new CompletionException(own);
                    }))
                    .isInstanceOf(CompletionException.class);
        }
    }

    /** A loader that waits for a future. */
    @Test
    void passesTheAnswersOfTheBusinessThatAreWrapped() {
        CacheKey<String> own = spec(StaleOnErrorOptions.keptFor(KEPT).withExcept(Set.of(NotFound.class)))
                .key(1);
        expire(own);

        assertThatThrownBy(() -> cache.fetch(own, () -> {
                    throw new CompletionException(new NotFound());
                }))
                .isInstanceOf(CompletionException.class);
    }

    @Test
    void throwsTheExceptionAfterALossOfRedisDuringTheLoad() {
        expire(key);
        assertThatThrownBy(() -> cache.fetch(key, () -> {
                    bench.store.away();
                    return fail();
                }))
                .isInstanceOf(DeadDatabase.class);
    }

    @Test
    void returnsNothingWithoutTheSetting() {
        CacheKey<String> own = spec(null).key(1);
        expire(key);
        assertThatThrownBy(() -> cache.fetch(own, this::fail)).isInstanceOf(DeadDatabase.class);
        assertThatThrownBy(() -> cache.fetch(own, this::fail)).isInstanceOf(DeadDatabase.class);
        assertThat(trials).hasValue(2);
        assertThat(bench.events.next()).contains("miss").doesNotContain("hit EXPIRED");
    }

    /** Another node loads, and does not come back. */
    @Test
    void doesNotLoadBesideTheLoadOfAnotherNodeThatHangs() {
        expire(key);
        CacheOptions slow = key.spec().options().toBuilder().loadLease(TTL).build();
        bench.store.fetch(key.spec().withOptions(slow).key(1), 0);
        assertThat(cache.fetch(key, this::fail)).isEqualTo("old");
        assertThat(trials).hasValue(0);
    }

    @Test
    void doesNotLoadBesideALoadThatHangs() throws Exception {
        CacheKey<String> own = spec(StaleOnErrorOptions.keptFor(KEPT))
                .withOptions(key.spec().options().toBuilder()
                        .loadWaitTimeout(Duration.ofMillis(50))
                        .build())
                .key(1);
        expire(own);
        GatedLoader<String> hangs = new GatedLoader<>(() -> "new");
        Caller<String> first = Workbench.call(() -> cache.fetch(own, hangs));
        hangs.awaitEntered();
        assertThat(cache.fetch(own, this::fail)).isEqualTo("old");
        assertThat(trials).hasValue(0);
        hangs.letGo();
        assertThat(first.result()).isEqualTo("new");
    }

    /** The load that hangs counts as failed. After the pause one reader loads beside it. */
    @Test
    void replacesALoadThatHangsAfterThePause() throws Exception {
        StaleOnErrorOptions ten = StaleOnErrorOptions.keptFor(Duration.ofMinutes(10));
        CacheKey<String> own = spec(ten)
                .withOptions(spec(ten).options().toBuilder()
                        .loadWaitTimeout(Duration.ofMillis(50))
                        .build())
                .key(1);
        expire(own);
        GatedLoader<String> hangs = new GatedLoader<>(() -> "late");
        Caller<String> first = Workbench.call(() -> cache.fetch(own, hangs));
        hangs.awaitEntered();
        GatedLoader<String> slow = new GatedLoader<>(() -> "new");
        List<Caller<String>> readers = List.of();
        for (int i = 0; i < 100 && slow.loads() == 0; i++) {
            bench.clock.advance(SECOND);
            readers = Workbench.call(20, () -> cache.fetch(own, slow));
            List<Caller<String>> all = readers;
            await().until(() -> all.stream().filter(reader -> !reader.isDone()).count() <= slow.loads());
        }
        slow.letGo();
        List<String> results = new ArrayList<>();
        for (Caller<String> reader : readers) {
            results.add(reader.result());
        }
        assertThat(results).containsOnlyOnce("new").filteredOn("old"::equals).hasSize(19);
        assertThat(slow.loads()).isEqualTo(1);
        assertThat(cache.fetch(own, this::fail)).as("it was stored").isEqualTo("new");
        hangs.letGo();
        first.result();
    }

    /** It would wait for itself: the other load polls for the lease that this reader has. */
    @Test
    void neverWaitsForALoadThatWaitsForItsOwnLease() throws Exception {
        expire(key);
        bench.store.hideClock();
        AtomicInteger loads = new AtomicInteger();
        Loader<String, RuntimeException> once = () -> "new " + loads.incrementAndGet();
        CountDownLatch polls = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        CompletableFuture<Caller<String>> first = new CompletableFuture<>();
        bench.clock.onPause(() -> {
            polls.countDown();
            awaitQuietly(goesOn);
            await().until(() -> first.join().isDone() || first.join().isWaiting());
        });
        List<Caller<String>> second = new ArrayList<>();
        bench.store.afterNext(Operation.FETCH, () -> {
            second.add(Workbench.call(() -> cache.fetch(key, once)));
            awaitQuietly(polls);
            goesOn.countDown();
        });
        int fetches = bench.store.count(Operation.FETCH);
        long before = bench.clock.millis();
        first.complete(Workbench.call(() -> cache.fetch(key, once)));
        assertThat(first.join().result()).isEqualTo("new 1");
        assertThat(second.get(0).result()).isEqualTo("new 1");
        assertThat(bench.store.count(Operation.FETCH) - fetches).isLessThanOrEqualTo(4);
        assertThat(bench.clock.millis() - before).isLessThan(50);
    }

    @Test
    void leavesTheLeaseToTheLoadThatWaitsForTheOneOfAnotherNode() throws Exception {
        expire(key);
        bench.store.hideClock();
        AtomicInteger loads = new AtomicInteger();
        Loader<String, RuntimeException> once = () -> "new " + loads.incrementAndGet();
        bench.store.fetch(key, 0);
        long leaseEnds = bench.clock.millis() + SECOND.toMillis();
        List<Caller<String>> late = new ArrayList<>();
        bench.clock.onPause(() -> {
            if (late.isEmpty()) {
                bench.clock.advance(SECOND);
                late.add(Workbench.call(() -> cache.fetch(key, once)));
                await().until(() -> late.get(0).isDone() || late.get(0).isWaiting());
            }
        });
        assertThat(cache.fetch(key, once)).isEqualTo("new 1");
        assertThat(late.get(0).result()).isEqualTo("new 1");
        assertThat(bench.clock.millis() - leaseEnds).isLessThan(50);
    }

    @Test
    void fetchesOnceForTheReadersOfAValueThatHasCertainlyExpired() throws Exception {
        expire(key);
        GatedLoader<String> slow = new GatedLoader<>(() -> "new");
        int before = bench.store.count(Operation.FETCH);
        List<Caller<String>> readers = Workbench.call(64, () -> cache.fetch(key, slow));
        slow.awaitEntered();
        readers.forEach(Caller::awaitWaiting);
        slow.letGo();
        for (Caller<String> reader : readers) {
            assertThat(reader.result()).isEqualTo("new");
        }
        assertThat(bench.store.count(Operation.FETCH) - before).isLessThanOrEqualTo(2);
    }

    /** Its query may have failed because of the transaction. */
    @Test
    void beginsNoPauseInsideATransaction() {
        expire(key);
        bench.transactions.begin();
        assertThatThrownBy(() -> cache.fetch(key, this::fail)).isInstanceOf(DeadDatabase.class);
        bench.transactions.rollback();
        assertThat(cache.fetch(key, () -> "new")).isEqualTo("new");
    }

    /** Clients for HTTP throw the exception of an interrupt when their time is over. */
    @Test
    void takesATimeoutOfAClientForAFailureOfTheSource() {
        expire(key);
        for (int i = 0; i < 2; i++) {
            assertThat(cache.fetch(key, () -> {
                        trials.incrementAndGet();
                        throw new RuntimeException(new InterruptedIOException("timeout"));
                    }))
                    .isEqualTo("old");
        }
        assertThat(trials).hasValue(1);
    }

    @Test
    void takesAnAnswerForASignThatTheSourceWorks() {
        CacheKey<String> own = spec(StaleOnErrorOptions.keptFor(KEPT).withExcept(Set.of(NotFound.class)))
                .key(1);
        expire(own);
        try (LogCapture log = LogCapture.of(FailedLoads.class)) {
            cache.fetch(own, this::fail);
            bench.clock.advance(SECOND);
            assertThatThrownBy(() -> cache.fetch(own, () -> {
                        throw new NotFound();
                    }))
                    .isInstanceOf(NotFound.class);
            assertThat(log.infos()).hasSize(1);
        }
    }

    @Test
    void neverReturnsAValueThatThisNodeInvalidatesInVainDuringTheLoad() {
        expire(key);
        assertThatThrownBy(() -> cache.fetch(key, () -> {
                    bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
                    cache.invalidate(key);
                    bench.clock.advance(Duration.ofSeconds(3));
                    return fail();
                }))
                .isInstanceOf(DeadDatabase.class);
        assertThat(bench.store.parts(key)).contains("value");
    }

    /** The promoted replica has not received the update. */
    @Test
    void neverReturnsAValueThatThisNodeUpdatesAndAFailoverBringsBackDuringTheLoad() {
        expire(key);
        Runnable failover = bench.store.replica();
        assertThatThrownBy(() -> cache.fetch(key, () -> {
                    cache.update(List.of(key), () -> null);
                    failover.run();
                    return fail();
                }))
                .isInstanceOf(DeadDatabase.class);
        assertThat(bench.store.parts(key)).contains("value");
    }

    @Test
    void keepsAnExpiredValueInNoLevelOfThisNode() {
        CacheKey<String> near = key.spec()
                .withOptions(key.spec().options().toBuilder().nearTtl(SECOND).build())
                .key(1);
        cache.fetch(near, () -> "old");
        bench.clock.advance(TTL);
        cache.fetch(near, this::fail);
        bench.events.next();

        assertThat(cache.fetch(near, this::fail)).isEqualTo("old");
        assertThat(bench.events.next()).containsExactly("hit EXPIRED");
        bench.store.away();
        assertThat(cache.fetch(near, () -> "without Redis")).isEqualTo("without Redis");
    }

    @Test
    void pausesRefreshesToo() {
        CacheKey<String> own = key.spec()
                .withOptions(
                        key.spec().options().toBuilder().refreshAhead(SECOND).build())
                .key(1);
        cache.fetch(own, () -> "old");
        bench.clock.advance(TTL.minusMillis(900));
        for (int i = 0; i < 200; i++) {
            assertThat(cache.fetch(own, this::fail)).isEqualTo("old");
            bench.background.runAll();
            bench.clock.advance(Duration.ofMillis(10));
        }
        assertThat(trials).hasValue(2);
    }

    @Test
    void boundsTheKeysThatPause() {
        FailedLoads failed = new FailedLoads(bench.clock);
        for (int id = 0; id < 20_000; id++) {
            failed.failed(key.spec().key(id), new DeadDatabase());
        }
        assertThat(failed.isPaused(key.spec().key(19_999))).isTrue();
        assertThat(failed.isPaused(key.spec().key(20_000)))
                .as("of a source that works")
                .isFalse();
        assertThat(failed.isPaused(Workbench.cp().key(19_999))).isFalse();
        bench.clock.advance(SECOND);
        assertThat(failed.isPaused(key.spec().key(19_999))).isFalse();
    }

    @Test
    void isRefusedForStrongCaches() {
        CacheOptions.Builder strong = key.spec().options().toBuilder().consistency(Consistency.CP);
        assertThatExceptionOfType(InvalidCacheOptionsException.class)
                .isThrownBy(strong::build)
                .withMessageContaining("stale-on-error")
                .withMessageContaining("Set it to 0s");
    }

    @Test
    void hasAnOwnKindOfHit() {
        assertThat(Hit.values()).contains(Hit.EXPIRED);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stop) {
            throw new AssertionError(stop);
        }
    }
}
