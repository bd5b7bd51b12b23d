package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.LoadAbandonedException;
import io.easykit.cache.LoadObserver;
import io.easykit.cache.Transactions;
import io.easykit.cache.async.AwaitedTask;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.cache.time.DetachedThread;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Loads values again that readers may still have: near the end of their life, or inside their stale window. */
final class Refreshes {

    private static final Logger log = LoggerFactory.getLogger(Refreshes.class);

    private final StoredEntries entries;
    private final StoredLoads loads;
    private final SingleFlight flights;
    private final LoadFailures failures;
    private final Transactions transactions;
    private final Executor background;
    private final LoadObserver observer;
    private final RateLimitedLog faultLine;

    /**
     * @param flights those of the loads that are stored
     */
    Refreshes(
            StoredEntries entries,
            StoredLoads loads,
            SingleFlight flights,
            LoadFailures failures,
            EngineContext engine) {
        this.entries = entries;
        this.loads = loads;
        this.flights = flights;
        this.failures = failures;
        this.transactions = engine.transactions();
        this.background = engine.background();
        this.observer = engine.observer();
        this.faultLine = new RateLimitedLog(engine.ticker());
    }

    /** Threads that go when there is nothing to do; a refresh that finds none free is left to a later reader. */
    static Executor fewThreads() {
        AtomicInteger number = new AtomicInteger();
        return new ThreadPoolExecutor(0, 8, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
            // Reused, so without the InheritableThreadLocals of the first reader.
            return DetachedThread.of("easy-cache-refresh-" + number.incrementAndGet(), task);
        });
    }

    /** A fresh value near its end is refreshed by one reader of this JVM, if no other node refreshes it already. */
    <V> void startIfDue(ReadRequest<V> read, Snapshot seen) {
        if (!isDue(read, seen)) {
            return;
        }
        ReadRequest<V> there = handedOver(read);
        if (there != null) {
            inBackground(there, null, () -> {
                Fetched fetched = entries.fetch(there);
                return fetched instanceof Fetched.Leased mine
                        ? loads.load(there, mine.lease())
                        : new LoadResult.Unshared<>(null);
            });
        }
    }

    /** Whether a fresh value is near its end, and this reader may refresh it. */
    boolean isDue(ReadRequest<?> read, Snapshot seen) {
        Duration remaining = seen.remaining();
        return remaining != null
                && remaining.compareTo(aheadOf(read, seen)) <= 0
                && !flights.isRunning(read.key())
                && mayTry(read.key())
                && !transactions.isActive();
    }

    /** Whether a key has not failed lately. */
    boolean mayTry(CacheKey<?> key) {
        return failures.mayRefresh(key);
    }

    /** A refresh of a key has failed. */
    void failed(CacheKey<?> key, Throwable failure) {
        failures.refreshFailed(key, failure);
    }

    /**
     * Refreshes a value under the load lease that came with it: in the background, or here and now if the load cannot leave
     * the calling thread.
     *
     * @return the value for the reader
     */
    <V> Decoded<V> refresh(ReadRequest<V> read, LoadLease lease, Decoded<V> older) {
        if (!mayTry(read.key())) {
            loads.release(read.key(), lease);
            return older;
        }
        return isHandedOver(read, lease) ? older : refreshed(read, loads.load(read, lease), older);
    }

    /** As {@link #refresh}, and holds no thread while a load that is not in the background waits. */
    <V> CompletableFuture<Decoded<V>> refreshLater(AsyncCall<V> call, LoadLease lease, Decoded<V> older) {
        ReadRequest<V> read = call.read();
        if (!mayTry(read.key())) {
            loads.releaseLater(call, lease);
            return CompletableFuture.completedFuture(older);
        }
        return isHandedOver(read, lease)
                ? CompletableFuture.completedFuture(older)
                : loads.loadLater(call, lease).thenApply(result -> refreshed(read, result, older));
    }

    private <V> boolean isHandedOver(ReadRequest<V> read, LoadLease lease) {
        ReadRequest<V> there = handedOver(read);
        if (there != null) {
            inBackground(there, lease, () -> loads.load(there, lease));
        }
        return there != null;
    }

    private <V> Decoded<V> refreshed(ReadRequest<V> read, LoadResult<V> result, Decoded<V> older) {
        noteFailure(read, result);
        return result.failure() == null ? new Decoded<>(result.value()) : older;
    }

    private static Duration aheadOf(ReadRequest<?> read, Snapshot seen) {
        Envelope value = seen.value();
        return value == null ? read.options().effectiveRefreshAhead() : ValueTtls.refreshAhead(value, read.options());
    }

    /** The same read on another thread; null if its load has to stay on this one. */
    <V> @Nullable ReadRequest<V> handedOver(ReadRequest<V> read) {
        ReadRequest<V> there = read.forBackground();
        return there == null ? null : there.in(transactions.backgroundScope());
    }

    /**
     * @param lease if the caller has one: then it loads beside a running load, or releases it
     */
    private <V> void inBackground(ReadRequest<V> read, @Nullable LoadLease lease, Supplier<LoadResult<V>> work) {
        try {
            background.execute(AwaitedTask.of(
                    () -> ObservedReload.run(observer, () -> LoadInProgress.outside(() -> reload(read, lease, work))),
                    fault -> notRun(read.key(), lease, fault)));
        } catch (RejectedExecutionException full) {
            log.debug("No thread is free to refresh {}", read.key());
            giveUp(read.key(), lease);
        } catch (Throwable fault) {
            notRun(read.key(), lease, fault);
        }
    }

    private void notRun(CacheKey<?> key, @Nullable LoadLease lease, Throwable fault) {
        report(key, fault);
        giveUp(key, lease);
    }

    private void report(CacheKey<?> key, Throwable fault) {
        if (faultLine.isDue()) {
            log.warn(
                    "Cannot refresh {} in the background, so it is loaded when it expires. Check the executor of refreshes",
                    key,
                    fault);
        } else {
            log.debug("Cannot refresh {} in the background either", key, fault);
        }
    }

    private <V> void reload(ReadRequest<V> read, @Nullable LoadLease lease, Supplier<LoadResult<V>> work) {
        InFlightLoad<V> mine = flights.tryLead(read.key());
        if (mine != null) {
            noted(read, () -> flights.run(read.key(), mine, work));
        } else if (lease != null) {
            noted(read, work);
        }
    }

    private void giveUp(CacheKey<?> key, @Nullable LoadLease lease) {
        if (lease != null) {
            loads.release(key, lease);
        }
    }

    private <V> void noted(ReadRequest<V> read, Supplier<LoadResult<V>> work) {
        try {
            noteFailure(read, work.get());
        } catch (StoreUnavailableException away) {
            log.debug("Cannot refresh {}", read.key(), away);
        }
    }

    private <V> void noteFailure(ReadRequest<V> read, LoadResult<V> result) {
        Throwable failure = result.failure();
        if (failure instanceof LoadAbandonedException) {
            log.debug("The refresh of {} is dropped", read.key(), failure);
        } else if (failure != null) {
            failed(read.key(), failure);
        }
    }
}
