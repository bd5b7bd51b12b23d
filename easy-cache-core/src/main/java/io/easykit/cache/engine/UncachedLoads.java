package io.easykit.cache.engine;

import static java.util.Objects.requireNonNull;

import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.CacheLoadTimeoutException;
import io.easykit.cache.engine.LoadBulkhead.Permit;
import io.easykit.cache.engine.SingleFlight.Joined;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Runs loads whose values are not stored.
 *
 * <p>Readers of a key share one such load, and wait for it no longer than their waiting time, or for {@link InFlightLoad#GRACE}
 * if that is over. Then each loads for itself, as long as the {@link LoadBulkhead} has a permit. An interrupted reader stops
 * waiting at once and does the same, with its interrupt flag set. A load that has run longer than a reader may wait is replaced
 * by that of the next reader with a permit, which later ones share.
 */
final class UncachedLoads {

    /** Why an overdue reader may not load. */
    static final String TOO_MANY =
            "too many other readers of this key, or of other ones, have begun to load for themselves";

    private final LoadBulkhead limit;
    private final SingleFlight flights;
    private final FailedLoads failed;
    private final EngineContext engine;
    private final Ticker ticker;

    UncachedLoads(LoadBulkhead limit, EngineContext engine) {
        this.limit = limit;
        this.flights = new SingleFlight(engine.values(), engine.listener(), engine.ticker());
        this.failed = new FailedLoads(engine.ticker());
        this.engine = engine;
        this.ticker = engine.ticker();
    }

    /** The loads that run, by key. */
    SingleFlight flights() {
        return flights;
    }

    /** The failures of all loads of this Redis. */
    FailedLoads failed() {
        return failed;
    }

    /** Loads for one reader, on its own. A pausable one does not load while the key is paused. */
    <V> LoadResult<V> load(ReadRequest<V> read) {
        return load(read, false);
    }

    private <V> LoadResult<V> load(ReadRequest<V> read, boolean withPermit) {
        if (read.pausable() && failed.isPaused(read.key())) {
            return new LoadResult.Failed<>(new LoadPausedException(), ticker.nanoTime());
        }
        LoadResult<V> result = loadAttached(read, withPermit);
        if (result.failure() != null) {
            failed.failed(read.key(), result.failure());
        }
        return result;
    }

    /** The same amid unfinished work of the caller, of which a failure may come: it pauses nobody. */
    <V> LoadResult<V> loadAttached(ReadRequest<V> read) {
        return loadAttached(read, false);
    }

    private <V> LoadResult<V> loadAttached(ReadRequest<V> read, boolean withPermit) {
        return requireNonNull(read.scope().run(() -> loadInScope(read, withPermit)));
    }

    private <V> LoadResult<V> loadInScope(ReadRequest<V> read, boolean withPermit) {
        long from = ticker.nanoTime();
        Permit permit = withPermit ? limit.enter(read) : Permit.NONE;
        if (permit == null) {
            return limit.refused(read, from);
        }
        try (permit;
                LoadReport report = new LoadReport(read.key(), engine)) {
            return loaded(read, LoadInProgress.load(read.loader(), report.startedAt()), report);
        }
    }

    private <V> LoadResult<V> loaded(ReadRequest<V> read, LoadResult<V> result, LoadReport report) {
        report.loaded();
        if (result.failure() == null) {
            failed.succeeded(read.key());
        }
        report.end(result.failure() == null ? Load.NOT_STORED : Load.FAILED, result.failure());
        return result;
    }

    /** As {@link #load}, and holds no thread while it waits for the value. */
    <V> CompletableFuture<LoadResult<V>> loadLater(AsyncCall<V> call) {
        ReadRequest<V> read = call.read();
        LoadReport report = new LoadReport(read.key(), engine);
        return call.load(report, raw -> {
                    LoadResult<V> result = loaded(read, raw, report);
                    if (result.failure() != null) {
                        failed.failed(read.key(), result.failure());
                    }
                    return CompletableFuture.completedFuture(result);
                })
                .whenComplete((result, failure) -> report.close());
    }

    /** As {@link #join}, and holds no thread while it waits for the load of another reader. */
    <V> CompletableFuture<LoadResult<V>> joinLater(AsyncCall<V> call) {
        return joinLater(call, deadlineOf(call.read()));
    }

    private <V> CompletableFuture<LoadResult<V>> joinLater(AsyncCall<V> call, long deadline) {
        return call.join(flights, deadline - ticker.nanoTime(), joined -> {
            if (joined instanceof Joined.Owner<V> own) {
                return call.run(flights, own.load(), () -> loadLater(call));
            } else if (joined instanceof Joined.Served<V> served) {
                return CompletableFuture.completedFuture(served.result());
            } else if (joined instanceof Joined.Alone) {
                return loadLater(call);
            }
            LoadResult<V> result =
                    joined instanceof Joined.Overdue<V> overdue ? loadOverdue(call.read(), overdue) : null;
            return result == null ? joinLater(call, deadline) : CompletableFuture.completedFuture(result);
        });
    }

    private long deadlineOf(ReadRequest<?> read) {
        return ticker.nanoTime() + Math.max(read.remainingWait(ticker), InFlightLoad.GRACE.toNanos());
    }

    /** Loads one at a time a key: waits for a load that is running, and has its result if it may. */
    <V> LoadResult<V> join(ReadRequest<V> read) {
        return join(read, null, false);
    }

    /** The same with a permit for the load, for which the reader waits as long as for the load of another reader. */
    <V> LoadResult<V> joinWithPermit(ReadRequest<V> read) {
        return join(read, null, true);
    }

    /**
     * @param beside another load of the key, whose result is as welcome; null if there is none
     */
    <V> LoadResult<V> join(ReadRequest<V> read, @Nullable InFlightLoad<V> beside) {
        return join(read, beside, false);
    }

    private <V> LoadResult<V> join(ReadRequest<V> read, @Nullable InFlightLoad<V> beside, boolean withPermit) {
        long deadline = deadlineOf(read);
        for (InFlightLoad<V> other = beside; ; other = null) {
            Joined<V> joined = flights.join(read, deadline - ticker.nanoTime(), other);
            if (joined instanceof Joined.Owner<V> own) {
                return flights.run(read.key(), own.load(), () -> load(read, withPermit));
            } else if (joined instanceof Joined.Served<V> served) {
                return served.result();
            } else if (joined instanceof Joined.Alone) {
                return load(read, withPermit);
            } else if (joined instanceof Joined.Overdue<V> overdue) {
                LoadResult<V> result = loadOverdue(read, overdue);
                if (result != null) {
                    return result;
                }
            }
        }
    }

    /** Null if the reader has to join again, because the load that hung is over. */
    private <V> @Nullable LoadResult<V> loadOverdue(ReadRequest<V> read, Joined.Overdue<V> overdue) {
        try (Permit permit = limit.tryEnterOverdue(read.key())) {
            if (permit != null && overdue.stuck()) {
                InFlightLoad<V> mine = flights.replace(read.key(), overdue.load());
                return mine == null ? null : flights.run(read.key(), mine, () -> load(read));
            } else if (permit != null) {
                return load(read);
            }
        }
        RuntimeException failure =
                read.pausable() ? new LoadPausedException() : new CacheLoadTimeoutException(read.key(), TOO_MANY);
        return new LoadResult.Failed<>(failure, ticker.nanoTime());
    }
}
