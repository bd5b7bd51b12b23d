package io.easykit.cache.engine;

import io.easykit.cache.CacheListener.Hit;
import io.easykit.cache.engine.ExpiredValues.Found;
import io.easykit.cache.engine.SoftTimeoutLoads.Waited;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Returns a value that has expired if the load of a new one fails, or takes too long.
 *
 * <h2>Which value</h2>
 *
 * One whose TTL is over for less than {@code stale-on-error}, and that was <em>not</em> invalidated. The store is read when
 * the load has failed, so an invalidation during the load is seen ({@link ExpiredValues}). The value is returned to the reader
 * alone: it enters no level of this JVM. Reads inside a load get none, except on threads that do not carry the load
 * ({@link LoadInProgress}).
 *
 * <h2>Trials</h2>
 *
 * After a failure the key pauses for {@code load-retry-after} ({@link FailedLoads}). Readers that come in that time get the
 * expired value without a load. Readers that waited for the failed load do not load again: their
 * {@linkplain ReadRequest#pausable() pausable} load ends with a {@link LoadPausedException}. A load that hangs counts as a failure:
 * loads beside it end in the same way, and after the pause one reader takes over. If a paused reader finds no expired value any
 * more, it loads without a pause.
 *
 * <h2>Soft timeout</h2>
 *
 * With a {@code load-soft-timeout} the whole miss runs in the background ({@link SoftTimeoutLoads}) if the loader can leave the
 * reader's thread and there is an expired value. When the time is over the store is read once more.
 */
final class StaleOnError {

    private static final String TOO_SLOW = "the load takes longer than the 'load-soft-timeout'";
    static final String PAUSED = "a load has failed just now, or takes too long";
    private static final int UNPAUSED_TRIALS = 2;

    private final ExpiredValues expired;
    private final FailedLoads failed;
    private final Refreshes refreshes;
    private final UncachedLoads uncachedLoads;
    private final SoftTimeoutLoads soft;

    StaleOnError(ReadParts parts, ExpiredValues expired, LoadBulkhead limit, EngineContext engine) {
        this.expired = expired;
        this.failed = parts.failed();
        this.refreshes = parts.refreshes();
        this.uncachedLoads = parts.uncachedLoads();
        this.soft = new SoftTimeoutLoads(limit, engine);
    }

    /** Reads a value that is no hit. */
    interface Miss<V> {

        LoadResult<V> read(ReadRequest<V> read);
    }

    <V> LoadResult<V> read(ReadRequest<V> read, ReadCount count, Miss<V> miss) {
        if (!ExpiredValues.areUsedBy(read)) {
            return miss.read(read);
        }
        boolean paused = failed.isPaused(read.key());
        if (paused) {
            LoadResult<V> found = find(read, count, PAUSED);
            if (found != null) {
                return found;
            }
        }
        LoadResult<V> result = load(paused ? read : read.withPauses(), count, miss);
        Throwable failure = result.failure();
        boolean noTrial = failure instanceof LoadPausedException;
        if (failure == null || !(noTrial || FailedLoads.isOfSource(read.key(), failure))) {
            return result;
        }
        LoadResult<V> found = find(read, count, noTrial ? PAUSED : ErrorText.of(failure));
        if (found != null) {
            return found;
        }
        return noTrial ? loadNow(read, miss) : result;
    }

    /** Loads despite the pause. The load of another reader, which this one waits for, may still end with a pause. */
    private <V> LoadResult<V> loadNow(ReadRequest<V> read, Miss<V> miss) {
        for (int i = 0; i < UNPAUSED_TRIALS; i++) {
            LoadResult<V> result = miss.read(read);
            if (!(result.failure() instanceof LoadPausedException)) {
                return result;
            }
        }
        return uncachedLoads.load(read);
    }

    private <V> LoadResult<V> load(ReadRequest<V> read, ReadCount count, Miss<V> miss) {
        Duration timeout = Objects.requireNonNull(read.options().staleOnError()).loadSoftTimeout();
        ReadRequest<V> there = timeout.isZero() ? null : refreshes.handedOver(read);
        if (there == null || !expired.areThereFor(read)) {
            return miss.read(read);
        }
        Waited<V> waited = soft.await(read, there, miss::read);
        if (waited instanceof Waited.Done<V> done) {
            // A reader that has joined the miss of another one is not counted yet.
            count.miss();
            return done.result();
        }
        LoadResult<V> found = waited instanceof Waited.Late ? find(read, count, TOO_SLOW) : null;
        return found != null ? found : miss.read(read);
    }

    private <V> @Nullable LoadResult<V> find(ReadRequest<V> read, ReadCount count, String why) {
        Found<V> found = expired.find(read);
        if (found == null) {
            return null;
        }
        if (found.expired()) {
            count.expired();
            failed.served(read.key(), why);
        } else {
            count.hit(Hit.FRESH);
        }
        return new LoadResult.Unshared<>(found.value());
    }
}
