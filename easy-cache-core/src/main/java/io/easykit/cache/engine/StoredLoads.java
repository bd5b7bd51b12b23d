package io.easykit.cache.engine;

import static java.util.Objects.requireNonNull;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.LoadAbandonedException;
import io.easykit.cache.engine.LoadResult.Loaded;
import io.easykit.cache.engine.NearEntries.Stamp;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Loads that are stored, each under a load lease. A load whose value is not stored releases its lease. */
final class StoredLoads {

    private static final Logger log = LoggerFactory.getLogger(StoredLoads.class);

    private final EntryStore store;
    private final Epochs epochs;
    private final LoadBulkhead limit;
    private final NearLevel near;
    private final LoadFailures failures;
    private final ValueEnvelopes values;
    private final EngineContext engine;
    private final Ticker ticker;

    StoredLoads(
            EntryStore store,
            NearLevel near,
            Epochs epochs,
            LoadBulkhead limit,
            LoadFailures failures,
            EngineContext engine) {
        this.store = store;
        this.near = near;
        this.epochs = epochs;
        this.limit = limit;
        this.failures = failures;
        this.values = engine.values();
        this.engine = engine;
        this.ticker = engine.ticker();
    }

    /** A pausable reader does not load while the key is paused. */
    <V> LoadResult<V> load(ReadRequest<V> read, LoadLease lease) {
        if (read.pausable() && isPaused(read.key())) {
            release(read.key(), lease);
            return new LoadResult.Failed<>(new LoadPausedException(), ticker.nanoTime());
        }
        return requireNonNull(read.scope().run(() -> loadInScope(read, lease)));
    }

    private <V> LoadResult<V> loadInScope(ReadRequest<V> read, LoadLease lease) {
        try (LoadReport report = new LoadReport(read.key(), engine)) {
            return load(read, lease, report);
        }
    }

    private <V> LoadResult<V> load(ReadRequest<V> read, LoadLease lease, LoadReport report) {
        boolean needsPermit = limit.isFading() && !LoadInProgress.mayBeInside();
        LoadResult<V> result =
                LoadInProgress.load(needsPermit ? limit.around(read) : read.loader(), report.startedAt());
        report.loaded();
        if (result.failure() == null) {
            succeeded(read.key());
        } else {
            failed(read.key(), result.failure());
        }
        if (result instanceof Loaded<V> loaded) {
            result = encoded(read, loaded);
        }
        if (result instanceof Loaded<V> loaded && loaded.snapshot() != null) {
            return stored(read, lease, loaded, loaded.snapshot(), report);
        }
        release(read.key(), lease);
        report.end(result.failure() == null ? Load.NOT_STORED : Load.FAILED, result.failure());
        return result;
    }

    /** Whether a load of the key has failed just now, and its readers may have an expired value. */
    boolean isPaused(CacheKey<?> key) {
        return failures.loads().isPaused(key);
    }

    /** A loader of the key has failed. Comes before the release of its load lease: the next reader sees it. */
    void failed(CacheKey<?> key, Throwable failure) {
        failures.loads().failed(key, failure);
    }

    /** A load of the key takes so long that it may never return. */
    void hangs(CacheKey<?> key) {
        failures.loads().hangs(key);
    }

    /** A loader of the key has returned a value: its loads and refreshes do not fail any more. */
    void succeeded(CacheKey<?> key) {
        failures.succeeded(key);
    }

    /** The refresh of a key failed, which had an older value. */
    void refreshFailed(CacheKey<?> key, Throwable failure) {
        if (!(failure instanceof LoadAbandonedException)) {
            failures.refreshFailed(key, failure);
        }
    }

    /** The value with its bytes; without them if the caller or its type keeps it from being stored. */
    <V> LoadResult<V> encoded(ReadRequest<V> read, Loaded<V> loaded) {
        try {
            if (!read.storable().test(loaded.value())) {
                return loaded;
            }
            Envelope bytes = values.encode(loaded.value(), read.key());
            return bytes == null ? values.refused(loaded, read.key()) : loaded.with(bytes);
        } catch (Throwable failure) {
            return new LoadResult.Failed<>(failure, loaded.asOf());
        }
    }

    private <V> LoadResult<V> stored(
            ReadRequest<V> read, LoadLease lease, Loaded<V> loaded, Envelope bytes, LoadReport report) {
        @Nullable V value = loaded.value();
        Duration ttl = ValueEnvelopes.ttl(value, read.options());
        Stamp stamp = near.stamp(read);
        long sent = ticker.nanoTime();
        try {
            boolean accepted = store.store(read.key(), lease, bytes, ttl);
            if (accepted) {
                near.keepStored(read, stamp, lease, value, bytes, ttl);
            }
            report.end(accepted ? Load.STORED : Load.REJECTED, null);
            return accepted
                    ? accepted(read.key(), lease, loaded, sent)
                    : new LoadResult.Superseded<>(value, loaded.asOf(), bytes);
        } catch (StoreUnavailableException away) {
            log.debug("The load of {} could not be stored", read.key(), away);
            report.end(Load.NOT_STORED, null);
            return loaded;
        }
    }

    /**
     * The result of a load whose store was accepted. A value that is stored under an older epoch is a miss: a clearing has
     * overtaken the load. Its readers know of each clearing that ended before they came: those of a CP key have learned the epochs
     * when they came ({@link Epochs#of}), and AP readers may have an older value for a probe interval.
     *
     * @param sent ticker time at which the store was sent
     */
    <V> LoadResult<V> accepted(CacheKey<V> key, LoadLease lease, Loaded<V> loaded, long sent) {
        return epochs.isCurrent(key, lease.epoch())
                ? new Loaded<>(loaded.value(), sent, loaded.snapshot())
                : new LoadResult.Superseded<>(loaded.value(), loaded.asOf(), loaded.snapshot());
    }

    /** Releases a load lease, so that the next reader loads at once. */
    void release(CacheKey<?> key, LoadLease lease) {
        try {
            store.releaseLoad(key, lease);
        } catch (StoreUnavailableException away) {
            log.debug("The load lease of {} ends by itself", key, away);
        }
    }
}
