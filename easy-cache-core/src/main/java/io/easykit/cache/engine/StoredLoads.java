package io.easykit.cache.engine;

import static java.util.Objects.requireNonNull;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.LoadAbandonedException;
import io.easykit.cache.engine.LoadBulkhead.Permit;
import io.easykit.cache.engine.LoadResult.Loaded;
import io.easykit.cache.engine.NearEntries.Stamp;
import io.easykit.cache.store.EntryCall;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs loads under a load lease, and stores their values. A load whose value is not stored releases its lease. */
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
        long from = ticker.nanoTime();
        boolean needsPermit = limit.isFading() && !LoadInProgress.mayBeInside();
        Permit permit = needsPermit ? limit.enter(read) : Permit.NONE;
        if (permit == null) {
            release(read.key(), lease);
            return limit.refused(read, from);
        }
        try (permit;
                LoadReport report = new LoadReport(read.key(), engine)) {
            return load(read, lease, permit, report);
        }
    }

    private <V> LoadResult<V> load(ReadRequest<V> read, LoadLease lease, Permit permit, LoadReport report) {
        LoadResult<V> raw = LoadInProgress.load(read.loader(), report.startedAt());
        permit.release();
        LoadResult<V> result = loaded(read, raw, report);
        Filling<V> filling = filling(read, lease, result, report);
        if (filling == null) {
            release(read.key(), lease);
            return result;
        }
        try {
            return filling.stored(store.store(read.key(), lease, filling.bytes, filling.ttl));
        } catch (StoreUnavailableException away) {
            return filling.away(away);
        }
    }

    /** Loads as {@link #load}, and holds no thread while it waits for the value or for the store. */
    <V> CompletableFuture<LoadResult<V>> loadLater(AsyncCall<V> call, LoadLease lease) {
        ReadRequest<V> read = call.read();
        LoadReport report = new LoadReport(read.key(), engine);
        return call.load(report, raw -> {
                    LoadResult<V> result = loaded(read, raw, report);
                    Filling<V> filling = filling(read, lease, result, report);
                    if (filling == null) {
                        releaseLater(call, lease);
                        return CompletableFuture.completedFuture(result);
                    }
                    return call.ask(
                            new EntryCall.Store(read.key(), lease, filling.bytes, filling.ttl),
                            reply -> CompletableFuture.completedFuture(
                                    reply.failure() == null
                                            ? filling.stored(reply.get())
                                            : filling.away(reply.failure())));
                })
                .whenComplete((result, failure) -> report.close());
    }

    /** The result of a loader, noted as success or failure, with its bytes if it may be stored. */
    private <V> LoadResult<V> loaded(ReadRequest<V> read, LoadResult<V> result, LoadReport report) {
        report.loaded();
        if (result.failure() == null) {
            succeeded(read.key());
        } else {
            failed(read.key(), result.failure());
        }
        return result instanceof Loaded<V> loaded ? encoded(read, loaded) : result;
    }

    /** What is to be stored of a result; null, and reported, if nothing is. Then the lease has to be released. */
    private <V> @Nullable Filling<V> filling(
            ReadRequest<V> read, LoadLease lease, LoadResult<V> result, LoadReport report) {
        if (result instanceof Loaded<V> loaded && loaded.snapshot() != null) {
            return new Filling<>(read, lease, loaded, loaded.snapshot(), report);
        }
        report.end(result.failure() == null ? Load.NOT_STORED : Load.FAILED, result.failure());
        return null;
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

    /** The value with its bytes; without them if the caller, its type or its TTL keeps it from being stored. */
    <V> LoadResult<V> encoded(ReadRequest<V> read, Loaded<V> loaded) {
        try {
            if (!read.storable().test(loaded.value())) {
                return loaded;
            }
            Duration ttl = values.ownTtl(loaded.value(), read.key());
            if (ttl != null && ttl.isZero()) {
                return loaded;
            }
            Envelope bytes = values.encode(loaded.value(), read.key());
            if (bytes == null) {
                return values.refused(loaded, read.key());
            }
            return loaded.with(ttl == null ? bytes : bytes.withTtl(ttl));
        } catch (Throwable failure) {
            return new LoadResult.Failed<>(failure, loaded.asOf());
        }
    }

    /** A value on its way to the store. */
    private final class Filling<V> {

        private final ReadRequest<V> read;
        private final LoadLease lease;
        private final Loaded<V> loaded;
        private final Envelope bytes;
        private final LoadReport report;
        private final Duration ttl;
        private final @Nullable Stamp stamp;
        private final long sent;

        /** Made before the store is sent. */
        Filling(ReadRequest<V> read, LoadLease lease, Loaded<V> loaded, Envelope bytes, LoadReport report) {
            this.read = read;
            this.lease = lease;
            this.loaded = loaded;
            this.bytes = bytes;
            this.report = report;
            this.ttl = ValueTtls.ttl(bytes, read.options(), ticker.random());
            this.stamp = near.stamp(read);
            this.sent = ticker.nanoTime();
        }

        LoadResult<V> stored(boolean accepted) {
            if (accepted) {
                near.keepStored(read, stamp, lease, loaded.value(), bytes, ttl);
            }
            report.end(accepted ? Load.STORED : Load.REJECTED, null);
            return accepted
                    ? StoredLoads.this.accepted(read.key(), lease, loaded, sent)
                    : new LoadResult.Superseded<>(loaded.value(), loaded.asOf(), bytes);
        }

        LoadResult<V> away(StoreUnavailableException away) {
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

    /** As {@link #release}, and waits for no reply. */
    void releaseLater(AsyncCall<?> call, LoadLease lease) {
        call.send(new EntryCall.Release(call.read().key(), lease), "The load lease ends by itself");
    }
}
