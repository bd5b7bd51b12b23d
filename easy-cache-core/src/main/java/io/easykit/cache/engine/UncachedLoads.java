package io.easykit.cache.engine;

import static java.util.Objects.requireNonNull;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.CacheLoadTimeoutException;
import io.easykit.cache.engine.InFlightLoad.LoadResult;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Loads that are not stored.
 *
 * <p>Readers of a key share one such load, and wait for it no longer than their waiting time, or for {@link InFlightLoad#GRACE}
 * if that is over. Then each loads for itself, as long as the {@link LoadBulkhead} has a permit. An interrupted reader stops
 * waiting at once and does the same, with its interrupt flag set.
 */
final class UncachedLoads {

    private final LoadBulkhead limit;
    private final ValueEnvelopes values;
    private final CacheListener listener;
    private final Ticker ticker;
    private final Map<CacheKey<?>, InFlightLoad<?>> inFlight = new ConcurrentHashMap<>();

    UncachedLoads(LoadBulkhead limit, EngineContext engine) {
        this.limit = limit;
        this.values = engine.values();
        this.listener = engine.listener();
        this.ticker = engine.ticker();
    }

    /** Loads for one reader, on its own. */
    <V> LoadResult<V> load(ReadRequest<V> read) {
        return requireNonNull(read.scope().run(() -> loadInScope(read)));
    }

    private <V> LoadResult<V> loadInScope(ReadRequest<V> read) {
        long startedAt = ticker.nanoTime();
        LoadResult<V> result = LoadInProgress.load(read.loader(), startedAt);
        listener.onLoad(read.key(), since(startedAt), result.failure() == null ? Load.NOT_STORED : Load.FAILED);
        return result;
    }

    /**
     * Loads one at a time a key: waits for a load that is running, and has its result if it may.
     *
     * @param beside another flight for the key, whose result is as welcome; null if there is none
     */
    <V> LoadResult<V> join(ReadRequest<V> read, @Nullable InFlightLoad<V> beside) {
        long deadline = ticker.nanoTime() + Math.max(read.remainingWait(ticker), InFlightLoad.GRACE.toNanos());
        for (; ; ) {
            InFlightLoad<V> mine = new InFlightLoad<>();
            InFlightLoad<V> running = putIfAbsent(read.key(), mine);
            if (running == null) {
                return runAsOwner(mine, read);
            }
            if (running.isOwnedByCallingThread()) {
                return load(read);
            }
            LoadResult<V> result = await(running, beside, read, deadline);
            if (result == null) {
                return loadOverdue(read);
            }
            if (result.unstorable()) {
                return load(read);
            }
            if (result.serves(read)) {
                return values.copyFor(result, read.key());
            }
            beside = null;
        }
    }

    private <V> LoadResult<V> runAsOwner(InFlightLoad<V> load, ReadRequest<V> read) {
        LoadResult<V> result = null;
        try {
            result = load(read);
            return result;
        } finally {
            inFlight.remove(read.key(), load);
            load.complete(result != null ? values.snapshot(result, read.key()) : LoadResult.ownOnly(null));
        }
    }

    private <V> @Nullable LoadResult<V> await(
            InFlightLoad<V> running, @Nullable InFlightLoad<V> beside, ReadRequest<V> read, long deadline) {
        long left = deadline - ticker.nanoTime();
        if (left <= 0 || running.isStuck(read.options().loadWaitTimeout())) {
            return null;
        }
        try {
            return running.await(beside, left);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    private <V> LoadResult<V> loadOverdue(ReadRequest<V> read) {
        try (LoadBulkhead.Permit permit = limit.tryEnterOverdue(read.key())) {
            if (permit != null) {
                return load(read);
            }
        }
        String reason = "too many other readers of this key, or of other ones, have begun to load for themselves";
        return LoadResult.failed(new CacheLoadTimeoutException(read.key(), reason), ticker.nanoTime());
    }

    @SuppressWarnings("unchecked") // equal keys have the same spec, so the same V
    private <V> @Nullable InFlightLoad<V> putIfAbsent(CacheKey<V> key, InFlightLoad<V> load) {
        return (InFlightLoad<V>) inFlight.putIfAbsent(key, load);
    }

    private Duration since(long startedAt) {
        return Duration.ofNanos(ticker.nanoTime() - startedAt);
    }
}
