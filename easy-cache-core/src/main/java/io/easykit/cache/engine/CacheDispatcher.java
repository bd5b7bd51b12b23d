package io.easykit.cache.engine;

import static java.util.Objects.requireNonNull;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheListener.Hit;
import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.Consistency;
import io.easykit.cache.LoadAbandonedException;
import io.easykit.cache.LoadScope;
import io.easykit.cache.Outcome;
import io.easykit.cache.RunningLoad;
import io.easykit.cache.Transactions;
import io.easykit.cache.engine.InFlightLoad.LoadResult;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Envelope.Kind;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A read-through cache for one reader: fetches from the store, acts on the outcome, loads, stores.
 *
 * <h2>The problem</h2>
 *
 * A reader loads the old value; an update commits and invalidates; the reader stores the value that it loaded: the old value
 * stays until its TTL. A lock around the load does not help, since locks expire. So the right to <em>store</em> is separate.
 *
 * <h2>The parts of an entry</h2>
 *
 * <ul>
 *   <li>The <b>fencing token</b> is the right to store. The first elected loader creates it, successive loaders share it, and each
 *       prepare and invalidation removes it. A store without it is rejected. So a value that was loaded before an invalidation
 *       is never stored after it, however slow the loader was; and a loader slower than its load lease still stores, if
 *       nothing was invalidated meanwhile.
 *   <li>The <b>load lease</b> elects the loader. It is short and ends by itself, so a crashed loader costs others a
 *       moment.
 *   <li><b>staleUntil</b> bounds how long an invalidated value may be returned under AP. It only ever decreases, so updates
 *       in a row do not prolong a stale value.
 *   <li>An <b>intent</b> stands for one update between <em>prepare</em> and <em>invalidate</em>. While there is one,
 *       no reader gets a fencing token. It has a lease, so after a crash of the updater nothing is stored until the lease ends.
 * </ul>
 *
 * <h2>One read</h2>
 *
 * A plain read accepts a value that is alone in its entry: it was neither invalidated nor under an update when the store
 * answered, and the store drops it when it expires. That is the hit path; it runs no script. In all other cases the store
 * decides in one step ({@link Outcome}), once for all readers of the key in this JVM (a {@link InFlightLoad}).
 *
 * <h2>Shared results</h2>
 *
 * A reader may wait for any running load, but gets its result only if that is as new as a read of its own would have been:
 * the load began, or its store was accepted, after the reader came. An AP reader also takes a load that began less than the
 * stale window before it came. All others load in a later turn; since all of them wait for the same load to complete, the
 * next one serves them all.
 *
 * <h2>Failures</h2>
 *
 * A lost reply of a fetch costs a load lease; of a store, a load. A rejected store changes nothing: the readers still get the
 * loaded value, if the load began after they came. The database held that value after they came, so a CP read may return it.
 * A CP reader that loaded it itself tries once to get a newer one. So a reader waits for at most two loads of this JVM,
 * however fast the updates are, for at most two loads of other nodes, and never longer than its load-wait timeout: then it
 * loads for itself and stores nothing, one at a time in this JVM. {@link StoreUnavailableException} leaves this class only
 * before anything was loaded.
 */
final class CacheDispatcher implements CacheReader {

    private static final Logger log = LoggerFactory.getLogger(CacheDispatcher.class);

    /** How many loads of other nodes a reader waits for before it loads for itself. */
    private static final int FOREIGN_LOADS = 2;

    /** How long readers wait for an update to end before they load beside it. */
    private static final Duration UPDATE_WAIT = Duration.ofMillis(50);

    private static final long FIRST_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long LAST_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final EntryStore store;
    private final Epochs epochs;
    private final Freshness freshness;
    private final LoadBulkhead limit;
    private final ValueEnvelopes values;
    private final Transactions transactions;
    private final Executor background;
    private final CacheListener listener;
    private final Ticker ticker;

    private final Map<CacheKey<?>, InFlightLoad<?>> inFlight = new ConcurrentHashMap<>();
    private final UncachedLoads uncachedLoads;
    private final FailingRefreshes failingRefreshes;
    private final LoadHints hints = new LoadHints();

    CacheDispatcher(EntryStore store, Epochs epochs, Freshness freshness, LoadBulkhead limit, EngineContext engine) {
        this.store = store;
        this.epochs = epochs;
        this.freshness = freshness;
        this.limit = limit;
        this.values = engine.values();
        this.transactions = engine.transactions();
        this.background = engine.background();
        this.listener = engine.listener();
        this.ticker = engine.ticker();
        this.uncachedLoads = new UncachedLoads(limit, engine);
        this.failingRefreshes = new FailingRefreshes(engine.ticker());
    }

    @Override
    public <V> @Nullable V fetch(ReadRequest<V> read) throws Throwable {
        Snapshot seen = store.read(read.key(), epochs.of(read.key()));
        Decoded<V> hit = openFresh(read, seen);
        boolean undelivered = freshness.isUndelivered(read.key());
        if (hit != null && !undelivered) {
            listener.onHit(read.key(), Hit.FRESH);
            refreshWhenDue(read, seen);
            return hit.value();
        }
        ReadRequest<V> strict = freshness.requiredFor(read);
        try (LoadScope scope = transactions.openLoadScope()) {
            String attached = scope.attachedReason();
            if (attached == null) {
                ReadRequest<V> apart = strict.in(scope);
                return (undelivered ? loadUnstored(apart) : fetchMissed(apart, seen)).get();
            }
            listener.onMiss(read.key());
            hints.notStored(read.key(), attached);
            return uncachedLoads.load(strict).get();
        }
    }

    private <V> LoadResult<V> loadUnstored(ReadRequest<V> read) {
        listener.onMiss(read.key());
        return uncachedLoads.join(read, null);
    }

    private <V> LoadResult<V> fetchMissed(ReadRequest<V> read, Snapshot first) {
        LoadResult<V> result = mayBeServed(read, first) ? decide(read, true) : join(read, true);
        while (result == null) {
            Snapshot seen = store.read(read.key(), epochs.of(read.key()));
            Decoded<V> hit = openFresh(read, seen);
            if (hit != null) {
                refreshWhenDue(read, seen);
                return LoadResult.ownOnly(hit.value());
            }
            result = mayBeServed(read, seen) ? decide(read, false) : join(read, false);
        }
        return result;
    }

    /** One call counts as one hit or one miss, however often it reads the store. */
    private void report(ReadRequest<?> read, @Nullable Hit hit, boolean first) {
        if (first && hit != null) {
            listener.onHit(read.key(), hit);
        } else if (first) {
            listener.onMiss(read.key());
        }
    }

    private static boolean mayBeServed(ReadRequest<?> read, Snapshot seen) {
        return seen.value() != null && (!seen.invalidated() || read.allowsStale());
    }

    /** There is a stale value that the store may return: then no reader waits. */
    private <V> @Nullable LoadResult<V> decide(ReadRequest<V> read, boolean first) {
        Fetched fetched = fetched(read);
        if (fetched instanceof Fetched.Served answer) {
            Decoded<V> served = serve(read, answer);
            if (served != null) {
                report(read, answer.stale() ? Hit.STALE : Hit.FRESH, first);
                return LoadResult.ownOnly(served.value());
            }
        } else if (fetched instanceof Fetched.NeedQuery) {
            report(read, null, first);
            return runAsOwner(new InFlightLoad<>(), read, fetched);
        }
        return join(read, first);
    }

    /** Joins this JVM's load of the key. Null if its result is not fresh enough for this reader, which has to try again. */
    private <V> @Nullable LoadResult<V> join(ReadRequest<V> read, boolean first) {
        report(read, null, first);
        InFlightLoad<V> mine = new InFlightLoad<>();
        InFlightLoad<V> running = putIfAbsent(read.key(), mine);
        if (running == null) {
            return runAsOwner(mine, read, null);
        }
        if (running.isOwnedByCallingThread()) {
            return uncachedLoads.load(read);
        }
        if (running.isStuck(read.options().loadWaitTimeout())) {
            return takeOver(running, mine, read);
        }
        LoadResult<V> result = awaitResult(running, read);
        if (result == null) {
            return uncachedLoads.join(read, running);
        }
        if (result.unstorable()) {
            return uncachedLoads.load(read);
        }
        return result.serves(read) ? values.copyFor(result, read.key()) : null;
    }

    /** Loads and stores in place of a load that may never return. As many such loads as overdue readers may run. */
    private <V> @Nullable LoadResult<V> takeOver(InFlightLoad<V> stuck, InFlightLoad<V> mine, ReadRequest<V> read) {
        try (LoadBulkhead.Permit permit = limit.tryEnterOverdue(read.key())) {
            if (permit == null) {
                return uncachedLoads.join(read, stuck);
            }
            return inFlight.replace(read.key(), stuck, mine) ? runAsOwner(mine, read, null) : null;
        }
    }

    private <V> @Nullable LoadResult<V> awaitResult(InFlightLoad<V> running, ReadRequest<V> read) {
        try {
            return running.await(null, Math.max(0, read.remainingWait(ticker)));
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /** Loads, shares the result, and repeats the load once for a CP reader if an update overtook it. */
    private <V> LoadResult<V> runAsOwner(InFlightLoad<V> load, ReadRequest<V> read, @Nullable Fetched first) {
        LoadResult<V> result = run(load, read, first);
        boolean repeat = result.overtaken() && read.options().consistency() == Consistency.CP;
        return repeat ? repeated(read, result) : result;
    }

    private <V> LoadResult<V> run(InFlightLoad<V> load, ReadRequest<V> read, @Nullable Fetched first) {
        inFlight.put(read.key(), load);
        LoadResult<V> result = LoadResult.ownOnly(null);
        try {
            result = turn(read, first);
        } catch (StoreUnavailableException away) {
            result = LoadResult.failed(away, ticker.nanoTime());
        } finally {
            inFlight.remove(read.key(), load);
            load.complete(values.snapshot(result, read.key()));
        }
        return result;
    }

    /** The next load, own or not; the overtaken one if there is none. */
    private <V> LoadResult<V> repeated(ReadRequest<V> read, LoadResult<V> overtaken) {
        InFlightLoad<V> mine = new InFlightLoad<>();
        InFlightLoad<V> running = putIfAbsent(read.key(), mine);
        LoadResult<V> next = running == null ? run(mine, read, null) : awaitResult(running, read);
        if (next == null || next.failure() instanceof StoreUnavailableException) {
            return overtaken;
        }
        return running == null ? next : next.serves(read) ? values.copyFor(next, read.key()) : overtaken;
    }

    /** The dispatch loop: fetches and acts on the outcome until there is a result. */
    private <V> LoadResult<V> turn(ReadRequest<V> read, @Nullable Fetched first) {
        boolean discarded = false;
        boolean waitedForUpdate = false;
        int foreignLoads = 0;
        for (Fetched known = first; ; known = null) {
            long requestedAt = ticker.nanoTime();
            Fetched fetched = known != null ? known : fetched(read);
            LoadResult<V> polled = null;
            if (fetched instanceof Fetched.Served answer) {
                Decoded<V> served = serve(read, answer);
                if (served != null) {
                    return answer.stale()
                            ? LoadResult.ownOnly(served.value())
                            : LoadResult.of(served.value(), requestedAt);
                }
                if (discarded) {
                    return uncachedLoads.join(read, null);
                }
                discarded = true;
            } else if (fetched instanceof Fetched.NeedQuery mine) {
                return loadAndStore(read, mine.lease());
            } else if (fetched instanceof Fetched.NeedWait other) {
                if (foreignLoads++ == FOREIGN_LOADS) {
                    return uncachedLoads.join(read, null);
                }
                polled = awaitLoad(read, other.leaseLeft());
                if (polled == null && read.remainingWait(ticker) <= 0) {
                    return uncachedLoads.join(read, null);
                }
            } else {
                if (waitedForUpdate) {
                    return uncachedLoads.join(read, null);
                }
                waitedForUpdate = true;
                polled = awaitUpdate(read);
            }
            if (polled != null) {
                return polled;
            }
        }
    }

    /** The fetched value, with a refresh if it is due; null if it is unreadable. */
    private <V> @Nullable Decoded<V> serve(ReadRequest<V> read, Fetched.Served fetched) {
        Decoded<V> decoded = open(read, fetched.value());
        return decoded != null && fetched instanceof Fetched.SuccessNeedQuery due
                ? renew(read, due.lease(), decoded)
                : decoded;
    }

    /** Loads in the background, or here and now if the load cannot leave the calling thread. */
    private <V> Decoded<V> renew(ReadRequest<V> read, LoadLease lease, Decoded<V> older) {
        if (!failingRefreshes.mayTry(read.key())) {
            releaseLoad(read.key(), lease);
            return older;
        }
        ReadRequest<V> there = handedOver(read);
        if (there != null) {
            inBackground(there, lease, () -> loadAndStore(there, lease));
            return older;
        }
        LoadResult<V> result = loadAndStore(read, lease);
        noteRefresh(read, result);
        return result.failure() == null ? new Decoded<>(result.value()) : older;
    }

    private Fetched fetched(ReadRequest<?> read) {
        return store.fetch(read.key(), epochs.of(read.key()), read.allowsStale());
    }

    private <V> LoadResult<V> loadAndStore(ReadRequest<V> read, LoadLease lease) {
        return requireNonNull(read.scope().run(() -> loadAndStoreInScope(read, lease)));
    }

    private <V> LoadResult<V> loadAndStoreInScope(ReadRequest<V> read, LoadLease lease) {
        long startedAt = ticker.nanoTime();
        boolean needsPermit = limit.isFading() && RunningLoad.current() == null;
        LoadResult<V> result = LoadInProgress.load(needsPermit ? limit.around(read) : read.loader(), startedAt);
        Duration took = since(startedAt);
        if (result.failure() == null) {
            failingRefreshes.succeeded(read.key());
        }
        Envelope encoded = null;
        if (result.failure() == null && !result.unstorable()) {
            try {
                boolean storable = read.storable().test(result.value());
                encoded = storable ? values.encode(result.value(), read.key()) : null;
                if (storable && encoded == null) {
                    result = values.refused(result.value(), startedAt, read.key());
                }
            } catch (Throwable failure) {
                result = LoadResult.failed(failure, startedAt);
            }
        }
        if (encoded == null) {
            releaseLoad(read.key(), lease);
            listener.onLoad(read.key(), took, result.failure() == null ? Load.NOT_STORED : Load.FAILED);
            return result;
        }
        return stored(read, lease, result.value(), encoded, startedAt, took);
    }

    private <V> LoadResult<V> stored(
            ReadRequest<V> read, LoadLease lease, @Nullable V value, Envelope encoded, long startedAt, Duration took) {
        long sent = ticker.nanoTime();
        try {
            boolean accepted = store.store(read.key(), lease, encoded, ValueEnvelopes.ttl(value, read.options()));
            listener.onLoad(read.key(), took, accepted ? Load.STORED : Load.REJECTED);
            return accepted ? LoadResult.of(value, sent).snapshot(encoded) : LoadResult.rejected(value, startedAt);
        } catch (StoreUnavailableException away) {
            log.debug("The load of {} could not be stored", read.key(), away);
            listener.onLoad(read.key(), took, Load.NOT_STORED);
            return LoadResult.of(value, startedAt);
        }
    }

    /** Waits for the load of another node. Null means: fetch again, or the load-wait timeout is over. */
    private <V> @Nullable LoadResult<V> awaitLoad(ReadRequest<V> read, Duration atMost) {
        long nanos = Math.min(atMost.toNanos() + FIRST_POLL_NANOS, read.remainingWait(ticker));
        return awaitNews(read, nanos, Snapshot::loading);
    }

    private <V> @Nullable LoadResult<V> awaitUpdate(ReadRequest<V> read) {
        return awaitNews(read, Math.min(UPDATE_WAIT.toNanos(), read.remainingWait(ticker)), Snapshot::updating);
    }

    /** Polls the entry, for all readers of it in this JVM, until it changes. */
    private <V> @Nullable LoadResult<V> awaitNews(ReadRequest<V> read, long nanos, Predicate<Snapshot> unchanged) {
        long end = ticker.nanoTime() + nanos;
        long pause = FIRST_POLL_NANOS;
        for (long left = nanos; left > 0; left = end - ticker.nanoTime()) {
            try {
                ticker.pause(Math.min(left, pause - ThreadLocalRandom.current().nextLong(pause / 2)));
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                return uncachedLoads.load(read);
            }
            long requestedAt = ticker.nanoTime();
            Snapshot seen = store.read(read.key(), epochs.of(read.key()));
            Decoded<V> value = openFresh(read, seen);
            if (value != null) {
                return LoadResult.of(value.value(), requestedAt);
            }
            if (!unchanged.test(seen)) {
                return null;
            }
            pause = Math.min(2 * pause, LAST_POLL_NANOS);
        }
        return null;
    }

    /** A fresh value near its end is refreshed by one reader of this JVM, if no other node refreshes it already. */
    private <V> void refreshWhenDue(ReadRequest<V> read, Snapshot seen) {
        Duration remaining = seen.remaining();
        if (remaining == null
                || remaining.compareTo(aheadOf(read, seen)) > 0
                || inFlight.containsKey(read.key())
                || !failingRefreshes.mayTry(read.key())
                || transactions.isActive()) {
            return;
        }
        ReadRequest<V> there = handedOver(read);
        if (there != null) {
            inBackground(there, null, () -> {
                Fetched fetched = fetched(there);
                return fetched instanceof Fetched.Leased mine ? loadAndStore(there, mine.lease()) : null;
            });
        }
    }

    private static Duration aheadOf(ReadRequest<?> read, Snapshot seen) {
        Envelope value = seen.value();
        boolean nothing = value != null && value.kind() != Kind.VALUE;
        return nothing
                ? read.options().effectiveNullRefreshAhead()
                : read.options().effectiveRefreshAhead();
    }

    private <V> @Nullable ReadRequest<V> handedOver(ReadRequest<V> read) {
        ReadRequest<V> there = read.forBackground();
        return there == null ? null : there.in(transactions.backgroundScope());
    }

    private <V> void inBackground(ReadRequest<V> read, @Nullable LoadLease lease, Refresh<V> work) {
        try {
            background.execute(() -> LoadInProgress.outside(() -> {
                InFlightLoad<V> load = new InFlightLoad<>();
                boolean alone = putIfAbsent(read.key(), load) == null;
                if (alone || lease != null) {
                    refreshInBackground(read, load, work);
                }
            }));
        } catch (RejectedExecutionException full) {
            log.debug("No thread is free to refresh {}", read.key());
            giveUp(read.key(), lease);
        } catch (Throwable fault) {
            log.warn("Cannot refresh {} in the background; it is loaded when it expires", read.key(), fault);
            giveUp(read.key(), lease);
        }
    }

    private void giveUp(CacheKey<?> key, @Nullable LoadLease lease) {
        if (lease != null) {
            releaseLoad(key, lease);
        }
    }

    private <V> void refreshInBackground(ReadRequest<V> read, InFlightLoad<V> load, Refresh<V> work) {
        LoadResult<V> result = null;
        try {
            result = work.run();
            if (result != null) {
                noteRefresh(read, result);
            }
        } catch (StoreUnavailableException away) {
            log.debug("Cannot refresh {}", read.key(), away);
        } finally {
            inFlight.remove(read.key(), load);
            load.complete(result != null ? values.snapshot(result, read.key()) : LoadResult.ownOnly(null));
        }
    }

    private <V> void noteRefresh(ReadRequest<V> read, LoadResult<V> result) {
        Throwable failure = result.failure();
        if (failure instanceof LoadAbandonedException) {
            log.debug("The refresh of {} is dropped", read.key(), failure);
        } else if (failure != null) {
            failingRefreshes.failed(read.key(), failure);
        }
    }

    private <V> @Nullable Decoded<V> openFresh(ReadRequest<V> read, Snapshot seen) {
        return seen.fresh() && seen.value() != null ? open(read, seen.value()) : null;
    }

    private <V> @Nullable Decoded<V> open(ReadRequest<V> read, Envelope envelope) {
        Decoded<V> decoded = values.decode(envelope, read.key());
        if (decoded == null) {
            listener.onUnreadable(read.key());
            store.removeUnreadable(read.key(), envelope);
        }
        return decoded;
    }

    private void releaseLoad(CacheKey<?> key, LoadLease lease) {
        try {
            store.releaseLoad(key, lease);
        } catch (StoreUnavailableException away) {
            log.debug("The election of {} ends by itself", key, away);
        }
    }

    @SuppressWarnings("unchecked") // equal keys have the same spec, so the same V
    private <V> @Nullable InFlightLoad<V> putIfAbsent(CacheKey<V> key, InFlightLoad<V> load) {
        return (InFlightLoad<V>) inFlight.putIfAbsent(key, load);
    }

    private Duration since(long startedAt) {
        return Duration.ofNanos(ticker.nanoTime() - startedAt);
    }

    /** Work of a refresh; null if there was nothing to do. */
    private interface Refresh<V> {
        @Nullable LoadResult<V> run();
    }
}
