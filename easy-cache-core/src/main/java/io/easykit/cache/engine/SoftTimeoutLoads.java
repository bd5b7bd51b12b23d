package io.easykit.cache.engine;

import static java.util.Objects.requireNonNull;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.async.AwaitedTask;
import io.easykit.cache.store.StoreUnavailableException;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds how long a reader waits for a load ({@code load-soft-timeout}): the miss runs in the background, one for each key, and
 * goes on when its readers have stopped waiting. Such a miss does all that
 * a reader would do: it waits for other loads, loads and stores.
 *
 * <p>A miss that hangs is replaced when it has run for the load-wait timeout. If no thread has been free for
 * {@code load-retry-after}, one reader of the key runs the miss itself, as long as the {@link LoadBulkhead} has a permit: else
 * misses that hang would keep all others from loading.
 */
final class SoftTimeoutLoads {

    private static final Logger log = LoggerFactory.getLogger(SoftTimeoutLoads.class);

    private final LoadBulkhead limit;
    private final EngineContext engine;
    private final ValueEnvelopes values;
    private final CacheListener listener;
    private final Ticker ticker;
    private final RateLimitedLog faultLine;
    private final Map<CacheKey<?>, Running<?>> running = new ConcurrentHashMap<>();
    private volatile @Nullable Long fullSince;

    SoftTimeoutLoads(LoadBulkhead limit, EngineContext engine) {
        this.limit = limit;
        this.engine = engine;
        this.values = engine.values();
        this.listener = engine.listener();
        this.ticker = engine.ticker();
        this.faultLine = new RateLimitedLog(ticker);
    }

    /** The result of a wait. */
    sealed interface Waited<V> {

        /** The result of the miss. */
        record Done<V>(LoadResult<V> result) implements Waited<V> {}

        /** The reader was interrupted, or its miss has broken off: it goes on by itself. */
        record Alone<V>() implements Waited<V> {}

        /** The time is over, or no thread is free for the miss. */
        record Late<V>() implements Waited<V> {}
    }

    /**
     * A miss of one reader.
     *
     * @param there the reader on another thread
     * @param end ticker time at which the reader stops waiting
     */
    private record Miss<V>(
            ReadRequest<V> read,
            ReadRequest<V> there,
            Function<ReadRequest<V>, LoadResult<V>> work,
            StaleOnErrorOptions options,
            long end) {

        CacheKey<V> key() {
            return read.key();
        }
    }

    /**
     * Joins the miss of a key, or starts it, and waits until it has run for the soft timeout. If its result is not for this
     * reader, that joins or starts the next one. An interrupt ends the wait, and stays set.
     *
     * @param there the same reader on another thread
     */
    <V> Waited<V> await(ReadRequest<V> read, ReadRequest<V> there, Function<ReadRequest<V>, LoadResult<V>> work) {
        StaleOnErrorOptions options = requireNonNull(read.options().staleOnError());
        long end = ticker.nanoTime() + options.loadSoftTimeout().toNanos();
        Miss<V> miss = new Miss<>(read, there, work, options, end);
        Waited<V> waited = null;
        while (waited == null) {
            waited = joinOrStart(miss);
        }
        return waited;
    }

    private <V> @Nullable Waited<V> joinOrStart(Miss<V> miss) {
        Running<V> mine = new Running<>(miss.key().spec().type(), ticker.nanoTime());
        Running<V> other = putIfAbsent(miss.key(), mine);
        if (other == null) {
            return start(miss, mine);
        }
        if (!other.type.equals(mine.type)) {
            return new Waited.Alone<>();
        }
        if (!isLost(other, miss)) {
            return join(miss, other);
        }
        boolean found = other.begin();
        if (!running.replace(miss.key(), other, mine)) {
            return null;
        }
        if (found) {
            other.breakOff();
            return runHere(miss, mine);
        }
        return start(miss, mine);
    }

    /** Whether a miss hangs, or has found no thread for a long time. */
    private boolean isLost(Running<?> other, Miss<?> miss) {
        long longest = Math.max(
                InFlightLoad.GRACE.toNanos(),
                miss.read.options().loadWaitTimeout().toNanos());
        long limit = other.hasBegun() ? longest : miss.options.loadRetryAfter().toNanos();
        return ticker.nanoTime() - other.startedAt >= limit;
    }

    /** Null if the result is not for this reader. */
    private <V> @Nullable Waited<V> join(Miss<V> miss, Running<V> other) {
        long from = ticker.nanoTime();
        long otherLeft = other.startedAt + miss.options.loadSoftTimeout().toNanos() - from;
        try {
            LoadResult<V> result = ticker.await(other.result, Math.max(0, Math.min(otherLeft, miss.end - from)));
            if (result instanceof LoadResult.Shared<V> shared && miss.read.isFreshEnough(shared.asOf())) {
                return new Waited.Done<>(values.copyFor(shared, miss.key()));
            }
            return ticker.nanoTime() - miss.end >= 0 ? new Waited.Late<>() : null;
        } catch (TimeoutException | ExecutionException none) {
            return new Waited.Late<>();
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return new Waited.Alone<>();
        } finally {
            listener.onWait(miss.key(), Duration.ofNanos(ticker.nanoTime() - from));
        }
    }

    private <V> Waited<V> start(Miss<V> miss, Running<V> mine) {
        if (!isStarted(miss, mine)) {
            return isFullForLong(miss.options) && mine.begin() ? runHere(miss, mine) : late(miss, mine);
        }
        try {
            long left = Math.max(0, miss.end - ticker.nanoTime());
            return new Waited.Done<>(ticker.await(mine.result, left));
        } catch (TimeoutException late) {
            return new Waited.Late<>();
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return new Waited.Alone<>();
        } catch (ExecutionException fault) {
            return new Waited.Alone<>();
        }
    }

    /** The miss is left to a later reader. */
    private <V> Waited<V> late(Miss<V> miss, Running<V> mine) {
        running.remove(miss.key(), mine);
        mine.breakOff();
        return new Waited.Late<>();
    }

    /** On the thread of the reader: no other one is free. */
    private <V> Waited<V> runHere(Miss<V> miss, Running<V> mine) {
        mine.begin();
        try (LoadBulkhead.Permit permit = limit.tryEnterOverdue(miss.key())) {
            return permit == null
                    ? late(miss, mine)
                    : new Waited.Done<>(run(miss.key(), mine, () -> miss.work.apply(miss.read)));
        }
    }

    private <V> boolean isStarted(Miss<V> miss, Running<V> mine) {
        try {
            engine.background()
                    .execute(AwaitedTask.of(
                            () -> ObservedReload.run(
                                    engine.observer(), () -> LoadInProgress.outside(() -> runThere(miss, mine))),
                            fault -> cannotRunThere(miss, mine, fault)));
            fullSince = null;
            return true;
        } catch (RejectedExecutionException full) {
            log.debug("No thread is free to load {}", miss.key());
        } catch (Throwable fault) {
            report(miss.key(), fault);
        }
        return false;
    }

    private void report(CacheKey<?> key, Throwable fault) {
        if (faultLine.isDue()) {
            log.warn(
                    "Cannot load {} in the background, so its expired value is returned. Check the executor",
                    key,
                    fault);
        } else {
            log.debug("Cannot load {} in the background either", key, fault);
        }
    }

    private boolean isFullForLong(StaleOnErrorOptions options) {
        long now = ticker.nanoTime();
        Long since = fullSince;
        if (since == null) {
            fullSince = now;
            return false;
        }
        return now - since >= options.loadRetryAfter().toNanos();
    }

    private <V> void cannotRunThere(Miss<V> miss, Running<V> mine, Throwable fault) {
        report(miss.key(), fault);
        if (mine.begin()) {
            running.remove(miss.key(), mine);
            mine.breakOff();
        }
    }

    private <V> void runThere(Miss<V> miss, Running<V> mine) {
        if (mine.begin()) {
            run(miss.key(), mine, () -> miss.work.apply(miss.there));
        }
    }

    private <V> LoadResult<V> run(CacheKey<V> key, Running<V> mine, Supplier<LoadResult<V>> work) {
        LoadResult<V> result = null;
        try {
            result = resultOf(work);
            return result;
        } finally {
            running.remove(key, mine);
            complete(key, mine, result);
        }
    }

    private <V> void complete(CacheKey<V> key, Running<V> mine, @Nullable LoadResult<V> result) {
        LoadResult<V> shared = null;
        try {
            shared = result == null ? null : shared(key, result);
        } finally {
            if (shared == null) {
                mine.breakOff();
            } else {
                mine.result.complete(shared);
            }
        }
    }

    private <V> LoadResult<V> shared(CacheKey<V> key, LoadResult<V> result) {
        Throwable failure = result.failure();
        boolean ofOwner = failure != null && OwnerFailures.contain(failure);
        return ofOwner ? result.forCallerAlone() : values.snapshot(result, key);
    }

    private <V> LoadResult<V> resultOf(Supplier<LoadResult<V>> work) {
        try {
            return work.get();
        } catch (StoreUnavailableException away) {
            return new LoadResult.Failed<>(away, ticker.nanoTime());
        }
    }

    @SuppressWarnings("unchecked") // joinOrStart compares the types
    private <V> @Nullable Running<V> putIfAbsent(CacheKey<V> key, Running<V> mine) {
        return (Running<V>) running.putIfAbsent(key, mine);
    }

    /**
     * @param type of the value: two caches of one prefix may have different ones
     * @param startedAt ticker time
     */
    private record Running<V>(Type type, long startedAt, AtomicBoolean begun, CompletableFuture<LoadResult<V>> result) {

        Running(Type type, long startedAt) {
            this(type, startedAt, new AtomicBoolean(), new CompletableFuture<>());
        }

        /** False if another thread runs it, or has given it up. */
        boolean begin() {
            return begun.compareAndSet(false, true);
        }

        boolean hasBegun() {
            return begun.get();
        }

        void breakOff() {
            result.completeExceptionally(new LoadPausedException());
        }
    }
}
