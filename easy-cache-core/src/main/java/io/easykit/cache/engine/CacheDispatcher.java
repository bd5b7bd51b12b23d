package io.easykit.cache.engine;

import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheListener.Hit;
import io.easykit.cache.Consistency;
import io.easykit.cache.LoadAbandonedException;
import io.easykit.cache.LoadScope;
import io.easykit.cache.Outcome;
import io.easykit.cache.Transactions;
import io.easykit.cache.engine.DispatchTurn.Step;
import io.easykit.cache.engine.FirstRead.Missed;
import io.easykit.cache.engine.NearEntries.Stamp;
import io.easykit.cache.engine.SingleFlight.Joined;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * A read-through cache for one reader: fetches from the store, acts on the outcome, loads, stores. {@link FallbackReader} calls
 * it, and goes on without the store if that is away.
 *
 * <h2>The problem</h2>
 *
 * A reader loads the old value; an update commits and invalidates; the reader stores the value that it loaded: the old value
 * stays until its TTL. A lock around the load does not help, since locks expire. So the right to <em>store</em> is separate.
 *
 * <h2>The parts of an entry</h2>
 *
 * <ul>
 *   <li>The <b>fencing token</b> is the right to store. The first loader creates it, successive loaders share it, and each
 *       prepare and invalidation removes it. A store without it is rejected. So a value that was loaded before an invalidation
 *       is never stored after it, however slow the loader was; and a loader slower than its load lease still stores, if
 *       nothing was invalidated meanwhile.
 *   <li>The <b>load lease</b> chooses the loader. It is short and ends by itself, so a crashed loader costs others a
 *       moment.
 *   <li><b>staleUntil</b> bounds how long an invalidated value may be returned under AP. It only ever decreases, so updates
 *       in a row do not prolong a stale value.
 *   <li>An <b>intent</b> stands for one update between <em>prepare</em> and <em>invalidate</em>. While there is one,
 *       no reader gets a fencing token. It has a lease, so after a crash of the updater nothing is stored until the lease ends.
 * </ul>
 *
 * <h2>One read</h2>
 *
 * A value of the {@link NearLevel} is returned at once. A plain read accepts a value that is alone in its entry: it was neither
 * invalidated nor under an update when the store answered, and the store drops it when it expires. That is the hit path; it
 * runs no script. In all other cases the store decides in one step ({@link Outcome}), once for all readers of the key in this
 * JVM (a {@link InFlightLoad}).
 *
 * <h2>Shared results</h2>
 *
 * A reader may wait for any running load, but gets its result only if that is as new as a read of its own would have been:
 * the load began, or its store was accepted, after the reader came. An AP reader also takes a load that began less than the
 * stale window before it came. All others load in a later turn; since all of them wait for the same load to complete, the
 * next one serves them all. Nothing that began or was stored before an update of this node, or before its late delivery, is
 * shared with readers that come afterwards ({@link OwnUpdates}).
 *
 * <h2>Failures</h2>
 *
 * Lost reply of a fetch: no reader gets the load lease until it ends. Lost reply of a store: at most one load more. A rejected
 * store changes nothing: readers still get the loaded value if the load began after they came, because the database held it
 * then. A CP reader that loaded it itself tries once to get a newer one. However fast the updates are, a reader waits for at
 * most two loads here and two of other nodes, never beyond its load-wait timeout. Then it loads for itself and stores nothing,
 * one at a time in this JVM. {@link StoreUnavailableException} leaves this class only before anything was loaded.
 */
final class CacheDispatcher {

    private final StoredEntries entries;
    private final NearLevel near;
    private final StoredLoads loads;
    private final UncachedLoads uncachedLoads;
    private final Refreshes refreshes;
    private final SingleFlight flights;
    private final EntryPoller otherNodes;
    private final Freshness freshness;
    private final LoadBulkhead limit;
    private final StaleOnError staleOnError;
    private final Transactions transactions;
    private final CacheListener listener;
    private final Ticker ticker;
    private final LoadHints hints = new LoadHints();

    CacheDispatcher(ReadParts parts, NearLevel near, Freshness freshness, LoadBulkhead limit, EngineContext engine) {
        this.near = near;
        this.entries = parts.entries();
        this.loads = parts.loads();
        this.uncachedLoads = parts.uncachedLoads();
        this.flights = parts.flights();
        this.refreshes = parts.refreshes();
        this.otherNodes = parts.otherNodes();
        this.freshness = freshness;
        this.limit = limit;
        this.staleOnError = new StaleOnError(parts, new ExpiredValues(entries, freshness), limit, engine);
        this.transactions = engine.transactions();
        this.listener = engine.listener();
        this.ticker = engine.ticker();
    }

    /** Reads the near level and the entry. A fresh value is reported as a hit; after a miss the reader goes on with {@link #fetch}. */
    <V> FirstRead<V> readFirst(ReadRequest<V> read) {
        Decoded<V> kept = nearHit(read);
        if (kept != null) {
            return kept;
        }
        // Checked before the read: its reply cannot reflect an invalidation that is delivered afterwards.
        boolean unusable = entries.isClearing(read.key()) || freshness.isUndelivered(read.key());
        Stamp stamp = near.stamp(read);
        Snapshot seen = entries.read(read.key());
        Decoded<V> hit = unusable ? null : entries.fresh(read.key(), seen);
        if (hit == null) {
            return new Missed<>(seen, unusable);
        }
        reportFresh(read, stamp, seen, hit);
        return hit;
    }

    /** Returns the value, or throws the exception of the loader. */
    <V> @Nullable V fetch(ReadRequest<V> strict, Missed<V> first, ReadCount count) throws Throwable {
        try (LoadScope scope = transactions.openLoadScope()) {
            String attached = scope.attachedReason();
            if (attached == null) {
                ReadRequest<V> apart = strict.in(scope);
                LoadResult<V> result = first.unusable()
                        ? loadUnstored(apart, count)
                        : staleOnError.read(apart, count, missed -> fetchMissed(missed, first.seen(), count));
                return result.get();
            }
            count.miss();
            hints.notStored(strict.key(), attached);
            return uncachedLoads.loadAttached(strict).get();
        }
    }

    /** A value of the near level; null if there is none for this reader. */
    <V> @Nullable Decoded<V> nearHit(ReadRequest<V> read) {
        Decoded<V> kept = near.get(read);
        if (kept != null) {
            listener.onHit(read.key(), Hit.NEAR);
        }
        return kept;
    }

    /** A plain read has found a value that every reader may have. */
    <V> void reportFresh(ReadRequest<V> read, @Nullable Stamp stamp, Snapshot seen, Decoded<V> hit) {
        listener.onHit(read.key(), Hit.FRESH);
        near.keepRead(read, stamp, seen, hit);
        refreshes.startIfDue(read, seen);
    }

    private <V> LoadResult<V> loadUnstored(ReadRequest<V> read, ReadCount count) {
        count.miss();
        return uncachedLoads.join(read);
    }

    /** Reads without a hit. */
    <V> LoadResult<V> fetchMissed(ReadRequest<V> read, Snapshot first, ReadCount count) {
        LoadResult<V> result = mayBeServed(read, first) ? decide(read, count) : join(read, count);
        while (result == null) {
            if (read.pausable() && loads.isPaused(read.key())) {
                return paused();
            }
            Snapshot seen = entries.read(read.key());
            Decoded<V> hit = entries.fresh(read.key(), seen);
            if (hit != null) {
                refreshes.startIfDue(read, seen);
                return new LoadResult.Unshared<>(hit.value());
            }
            result = mayBeServed(read, seen) ? decide(read, count) : join(read, count);
        }
        return result;
    }

    private <V> LoadResult<V> paused() {
        return new LoadResult.Failed<>(new LoadPausedException(), ticker.nanoTime());
    }

    /** Whether the store may return its value to this reader, which then waits for no load. */
    static boolean mayBeServed(ReadRequest<?> read, Snapshot seen) {
        return seen.value() != null && !seen.expired() && (!seen.invalidated() || read.allowsStale());
    }

    /** There is a stale value that the store may return: then no reader waits. */
    private <V> @Nullable LoadResult<V> decide(ReadRequest<V> read, ReadCount count) {
        Fetched fetched = entries.fetch(read);
        if (fetched instanceof Fetched.Served answer) {
            Decoded<V> served = serve(read, answer);
            if (served != null) {
                count.hit(answer.stale() ? Hit.STALE : Hit.FRESH);
                return new LoadResult.Unshared<>(served.value());
            }
        } else if (fetched instanceof Fetched.NeedQuery mine) {
            if (!read.pausable() || !flights.isRunning(read.key())) {
                count.miss();
                return runAsOwner(flights.lead(read.key()), read, fetched);
            }
            // The load of this JVM has outlasted its lease, or polls for this one.
            loads.release(read.key(), mine.lease());
        }
        return join(read, count);
    }

    /** Joins this JVM's load of the key. Null if the reader has to try again. */
    private <V> @Nullable LoadResult<V> join(ReadRequest<V> read, ReadCount count) {
        count.miss();
        Joined<V> joined = flights.join(read, read.remainingWait(ticker), null);
        if (joined instanceof Joined.Owner<V> own) {
            return runAsOwner(own.load(), read, null);
        } else if (joined instanceof Joined.Served<V> served) {
            return served.result();
        } else if (joined instanceof Joined.Alone) {
            return uncachedLoads.load(read);
        } else if (joined instanceof Joined.Overdue<V> overdue) {
            return overdue.stuck() ? takeOver(overdue.load(), read) : loadBeside(overdue.load(), read);
        }
        return null;
    }

    private <V> LoadResult<V> loadBeside(InFlightLoad<V> other, ReadRequest<V> read) {
        return read.pausable() ? paused() : uncachedLoads.join(read, other);
    }

    /**
     * Loads and stores in place of a load that may never return, which counts as a failure: pausable readers do so after the
     * pause. As many such loads as overdue readers may run.
     */
    private <V> @Nullable LoadResult<V> takeOver(InFlightLoad<V> stuck, ReadRequest<V> read) {
        if (stuck.isFoundStuckNow()) {
            loads.hangs(read.key());
        }
        if (read.pausable() && loads.isPaused(read.key())) {
            return paused();
        }
        try (LoadBulkhead.Permit permit = limit.tryEnterOverdue(read.key())) {
            if (permit == null) {
                return loadBeside(stuck, read);
            }
            InFlightLoad<V> mine = flights.replace(read.key(), stuck);
            return mine == null ? null : runAsOwner(mine, read, null);
        }
    }

    /** Loads, shares the result, and repeats the load once for a CP reader if an update overtook it. */
    private <V> LoadResult<V> runAsOwner(InFlightLoad<V> mine, ReadRequest<V> read, @Nullable Fetched first) {
        LoadResult<V> result = run(mine, read, first);
        boolean repeat =
                result instanceof LoadResult.Superseded && read.options().consistency() == Consistency.CP;
        return repeat ? repeated(read, result) : result;
    }

    private <V> LoadResult<V> run(InFlightLoad<V> mine, ReadRequest<V> read, @Nullable Fetched first) {
        return flights.run(read.key(), mine, () -> {
            try {
                return turn(read, first);
            } catch (StoreUnavailableException away) {
                return new LoadResult.Failed<>(away, ticker.nanoTime());
            }
        });
    }

    /** The next load, own or not; the superseded one if there is none. */
    private <V> LoadResult<V> repeated(ReadRequest<V> read, LoadResult<V> superseded) {
        Joined<V> joined = flights.join(read, read.remainingWait(ticker), null);
        LoadResult<V> next = superseded;
        if (joined instanceof Joined.Owner<V> own) {
            next = run(own.load(), read, null);
        } else if (joined instanceof Joined.Served<V> served) {
            next = served.result();
        }
        return isNone(next) ? superseded : next;
    }

    /** Whether a repeated load has no result of its own. */
    static boolean isNone(LoadResult<?> repeated) {
        return repeated.failure() instanceof StoreUnavailableException
                || repeated.failure() instanceof LoadAbandonedException;
    }

    /** The dispatch loop: fetches and acts on the outcome until there is a result. An interrupt ends all waiting. */
    private <V> LoadResult<V> turn(ReadRequest<V> read, @Nullable Fetched first) {
        try {
            return dispatch(read, first);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return uncachedLoads.load(read);
        }
    }

    private <V> LoadResult<V> dispatch(ReadRequest<V> read, @Nullable Fetched first) throws InterruptedException {
        DispatchTurn turn = new DispatchTurn();
        for (Fetched known = first; ; known = null) {
            long requestedAt = ticker.nanoTime();
            Fetched fetched = known != null ? known : entries.fetch(read);
            Step step = turn.after(fetched);
            LoadResult<V> result = perform(step, read, fetched, requestedAt);
            if (result == null) {
                Step next = turn.afterNone(step, read.remainingWait(ticker));
                result = perform(next, read, fetched, requestedAt);
            }
            if (result != null) {
                return result;
            }
        }
    }

    /** Null without a result. */
    private <V> @Nullable LoadResult<V> perform(Step step, ReadRequest<V> read, Fetched fetched, long requestedAt)
            throws InterruptedException {
        return switch (step) {
            case FETCH -> null;
            case LOAD -> loads.load(read, ((Fetched.NeedQuery) fetched).lease());
            case SERVE -> served(read, (Fetched.Served) fetched, requestedAt);
            case AWAIT_LOAD -> otherNodes.awaitLoad(read, ((Fetched.NeedWait) fetched).leaseLeft());
            case AWAIT_UPDATE -> otherNodes.awaitUpdate(read);
            case LOAD_UNSTORED -> uncachedLoads.join(read);
            case LOAD_BESIDE -> read.pausable() ? paused() : uncachedLoads.join(read);
        };
    }

    /** The value that was fetched for all readers; null if it is unreadable. */
    private <V> @Nullable LoadResult<V> served(ReadRequest<V> read, Fetched.Served fetched, long requestedAt) {
        Decoded<V> served = serve(read, fetched);
        return served == null ? null : sharedAs(fetched, served.value(), requestedAt);
    }

    /** How other readers may use a fetched value. */
    static <V> LoadResult<V> sharedAs(Fetched.Served fetched, @Nullable V value, long requestedAt) {
        return fetched.stale() ? new LoadResult.Unshared<>(value) : new LoadResult.Loaded<>(value, requestedAt);
    }

    /** The fetched value, with a refresh if it is due; null if it is unreadable. */
    private <V> @Nullable Decoded<V> serve(ReadRequest<V> read, Fetched.Served fetched) {
        Decoded<V> decoded = entries.decode(read.key(), fetched);
        return decoded != null && fetched instanceof Fetched.SuccessNeedQuery due
                ? refreshes.refresh(read, due.lease(), decoded)
                : decoded;
    }
}
