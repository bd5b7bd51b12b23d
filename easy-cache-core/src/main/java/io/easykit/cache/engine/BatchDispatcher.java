package io.easykit.cache.engine;

import static java.util.Objects.requireNonNull;

import io.easykit.cache.CacheListener.Hit;
import io.easykit.cache.Consistency;
import io.easykit.cache.LoadScope;
import io.easykit.cache.Transactions;
import io.easykit.cache.engine.BatchElement.Way;
import io.easykit.cache.engine.BatchPoller.Waiting;
import io.easykit.cache.engine.BatchUnstored.Permits;
import io.easykit.cache.engine.SingleFlight.Joined;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.EntryReply;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.StoreUnavailableException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads several elements of one cache: what {@link CacheDispatcher} does for one reader, with one call of the loader for all
 * elements that this reader has to load. An element that is no hit is open until it has a result.
 *
 * <h2>One round</h2>
 *
 * <ol>
 *   <li><b>Join.</b> The reader becomes the owner of the loads that are not running in this JVM. It does not wait for the others.
 *   <li><b>Fetch.</b> The store decides about all elements of its own in one pipeline.
 *   <li><b>Load.</b> One call of the loader, for the elements with a load lease, and for those that cannot be stored at all.
 *       Before that the batch releases the ownership of elements that other nodes load, so that other readers need not wait for
 *       the loader.
 *   <li><b>Store.</b> Each element under its own fencing token, in one pipeline. Its load is completed: other readers go on.
 *   <li><b>Poll.</b> Elements that another node loads, or updates, are polled together. Their loads are completed, too.
 *   <li><b>Wait</b> for the loads of other readers.
 * </ol>
 *
 * <p>So a reader that waits for other readers holds no load, and one that polls holds only loads that other nodes run. Take two
 * batches that overlap in opposite orders: each loads its own elements first, in any order, and neither waits for a load
 * that waits for it. Two nodes store their elements before they poll each other's.
 *
 * <h2>The second round</h2>
 *
 * Elements without a result go through a second round: those whose loads have failed elsewhere, are too old for this reader,
 * or have ended without a value; and CP elements whose store was rejected, which keep the loaded value in case there is no
 * newer one. Elements that are open after that are loaded and not stored ({@link BatchUnstored}). So a batch calls its loader
 * twice at most, unless other readers fail it a second time.
 *
 * <h2>Failures</h2>
 *
 * A failure of the loader is a failure of the call. It releases all leases of the call, and other readers of its elements load
 * for themselves. Elements whose partition of the store is away leave with {@link BatchElement#away()} set, after all
 * others have a result. A reader that dies leaves leases, which end by themselves.
 */
final class BatchDispatcher {

    private static final int ROUNDS = 2;

    private final StoredEntries entries;
    private final BatchEntries batches;
    private final BatchRefreshes refreshes;
    private final BatchJoins joins;
    private final BatchStaleOnError staleOnError;
    private final BatchLoads loads;
    private final BatchUnstored unstored;
    private final BatchPoller otherNodes;
    private final Freshness freshness;
    private final Transactions transactions;
    private final Ticker ticker;
    private final LoadHints hints = new LoadHints();

    BatchDispatcher(ReadParts parts, BatchParts batch, Freshness freshness, LoadBulkhead limit, EngineContext engine) {
        this.entries = parts.entries();
        this.refreshes = new BatchRefreshes(parts, batch, engine);
        this.joins = new BatchJoins(parts.flights(), limit, engine);
        this.staleOnError = new BatchStaleOnError(parts, batch, joins, new ExpiredValues(entries, freshness));
        this.batches = batch.entries();
        this.loads = batch.loads();
        this.unstored = batch.unstored();
        this.otherNodes = new BatchPoller(entries, batches, engine);
        this.freshness = freshness;
        this.transactions = engine.transactions();
        this.ticker = engine.ticker();
    }

    /** Gives each element a result, or marks it as away. Throws the exception of the loader. */
    <K, V> void fetch(BatchRead<K, V> batch) throws Throwable {
        readHits(batch);
        List<BatchElement<K, V>> missed = batch.open();
        if (missed.isEmpty()) {
            return;
        }
        missed.forEach(element -> element.become(freshness.requiredFor(element.read())));
        try (LoadScope scope = transactions.openLoadScope()) {
            String attached = scope.attachedReason();
            if (attached == null) {
                missed.forEach(element -> element.become(element.read().in(scope)));
                fetchMissed(batch);
            } else {
                missed.forEach(joins::countMiss);
                hints.notStored(missed.get(0).key(), attached);
                loads.load(batch, missed, false);
                batch.requireNoFailure();
            }
        }
    }

    private <K, V> void readHits(BatchRead<K, V> batch) {
        List<BatchElement<K, V>> due = new ArrayList<>();
        // Checked before the read: its reply cannot reflect an invalidation that is delivered afterwards.
        batch.elements().stream()
                .filter(element -> freshness.isUndelivered(element.key()))
                .forEach(element -> element.go(Way.UNSTORED));
        leaveCleared(batch.elements());
        List<BatchElement<K, V>> open = batch.open();
        List<EntryReply<Snapshot>> replies =
                batches.read(open.stream().map(BatchElement::read).toList());
        for (int i = 0; i < replies.size(); i++) {
            BatchElement<K, V> element = open.get(i);
            try {
                readHit(element, replies.get(i).get(), due);
            } catch (StoreUnavailableException away) {
                element.isAway(away, ticker.nanoTime());
            }
        }
        refreshes.start(batch, due);
    }

    /** Elements that are being cleared are not taken from the store. */
    private <K, V> void leaveCleared(List<BatchElement<K, V>> elements) {
        List<EntryReply<Boolean>> replies =
                batches.areClearing(elements.stream().map(BatchElement::read).toList());
        for (int i = 0; i < replies.size(); i++) {
            BatchElement<K, V> element = elements.get(i);
            try {
                if (replies.get(i).get()) {
                    element.go(Way.UNSTORED);
                }
            } catch (StoreUnavailableException away) {
                element.isAway(away, ticker.nanoTime());
            }
        }
    }

    private <K, V> void readHit(BatchElement<K, V> element, Snapshot seen, List<BatchElement<K, V>> due) {
        Decoded<V> hit = entries.fresh(element.key(), seen);
        if (element.way() == Way.UNSTORED) {
            return;
        }
        if (hit != null) {
            joins.countHit(element, Hit.FRESH);
            if (refreshes.isDue(element, seen)) {
                due.add(element);
            }
            element.done(new LoadResult.Unshared<>(hit.value()));
        } else {
            element.see(seen);
        }
    }

    private <K, V> void fetchMissed(BatchRead<K, V> batch) throws Throwable {
        try {
            for (int round = 0; round < ROUNDS && batch.hasOpen(); round++) {
                staleOnError.servePaused(batch.open());
                runRound(batch, round == 0);
            }
            batch.open().stream().filter(BatchElement::isRepeated).forEach(BatchElement::settle);
            staleOnError.servePaused(batch.open());
            unstored.load(batch, batch.open(), false);
        } catch (Throwable failure) {
            if (!staleOnError.serveAll(batch, failure)) {
                throw failure;
            }
        } finally {
            batch.elements().forEach(BatchElement::letGo);
            batch.elements().forEach(joins::countDeferredMiss);
        }
    }

    private <K, V> void runRound(BatchRead<K, V> batch, boolean first) throws Throwable {
        List<BatchElement<K, V>> open = batch.open();
        List<Waiting<K, V>> toPoll = new ArrayList<>();
        List<BatchElement<K, V>> toRefresh = new ArrayList<>();
        try (Permits permits = new Permits()) {
            List<BatchElement<K, V>> own = open.stream()
                    .filter(element -> element.way() == Way.STORED)
                    .filter(element -> (first && mayBeServed(element)) || joins.join(element, permits))
                    .toList();
            fetch(own, new Round<>(permits, toPoll, toRefresh));
            refresh(batch, toRefresh);
            // The leases are held now, so a failure of an earlier holder is known.
            staleOnError.servePaused(
                    open.stream().filter(element -> element.lease() != null).toList());
            List<BatchElement<K, V>> toLoad =
                    open.stream().filter(this::isToBeLoaded).toList();
            if (!toLoad.isEmpty()) {
                toPoll.forEach(waiting -> waiting.element().letGo());
            }
            loads.load(batch, toLoad, false);
            batch.requireNoFailure();
            if (!toLoad.isEmpty()) {
                toPoll.removeIf(waiting -> !joins.join(waiting.element(), permits));
            }
            toLoad.stream().filter(BatchDispatcher::isOvertaken).forEach(BatchElement::repeat);
        }
        otherNodes.await(toPoll);
        batch.open().stream().filter(BatchElement::isWaiting).forEach(this::await);
    }

    /** An update has overtaken the load, and the reader wants a newer value. */
    private static boolean isOvertaken(BatchElement<?, ?> element) {
        return element.result() instanceof LoadResult.Superseded
                && element.read().options().consistency() == Consistency.CP;
    }

    private <K, V> boolean isToBeLoaded(BatchElement<K, V> element) {
        if (!element.isOpen()) {
            return false;
        }
        if (element.way() != Way.STORED) {
            joins.countMiss(element);
        }
        return element.lease() != null || (element.way() != Way.STORED && unstored.lead(element));
    }

    /** There is a stale value that the store may return: then the reader does not wait. */
    private static boolean mayBeServed(BatchElement<?, ?> element) {
        return CacheDispatcher.mayBeServed(element.read(), element.seen());
    }

    /**
     * The outcome of the fetches of one round.
     *
     * @param toRefresh elements with a value and a load lease
     */
    private record Round<K, V>(Permits permits, List<Waiting<K, V>> toPoll, List<BatchElement<K, V>> toRefresh) {}

    private <K, V> void fetch(List<BatchElement<K, V>> own, Round<K, V> round) {
        long requestedAt = ticker.nanoTime();
        List<EntryReply<Fetched>> replies =
                batches.fetch(own.stream().map(BatchElement::read).toList());
        for (int i = 0; i < replies.size(); i++) {
            BatchElement<K, V> element = own.get(i);
            try {
                act(element, replies.get(i).get(), requestedAt, round);
            } catch (StoreUnavailableException away) {
                element.isAway(away, ticker.nanoTime());
            }
        }
    }

    private <K, V> void act(BatchElement<K, V> element, Fetched fetched, long requestedAt, Round<K, V> round) {
        if (fetched instanceof Fetched.NeedQuery mine) {
            joins.lead(element, mine.lease());
        } else if (fetched instanceof Fetched.Served answer) {
            serve(element, answer, requestedAt, round);
        } else if (element.isHeld() || joins.join(element, round.permits)) {
            Waiting<K, V> waiting = waiting(element, fetched);
            if (waiting == null) {
                element.go(Way.UNSTORED);
            } else {
                round.toPoll.add(waiting);
            }
        }
    }

    /** What an element waits for on another node; null if it has waited long enough. */
    private <K, V> @Nullable Waiting<K, V> waiting(BatchElement<K, V> element, Fetched fetched) {
        boolean late = element.read().remainingWait(ticker) <= 0;
        if (fetched instanceof Fetched.NeedWait other) {
            return late ? null : Waiting.forLoad(element, other.leaseLeft());
        }
        return element.isFirstTry() && !late ? Waiting.forUpdate(element) : null;
    }

    private <K, V> void serve(BatchElement<K, V> element, Fetched.Served answer, long requestedAt, Round<K, V> round) {
        Decoded<V> decoded = entries.decode(element.key(), answer);
        LoadLease lease = answer instanceof Fetched.SuccessNeedQuery due ? due.lease() : null;
        if (decoded == null) {
            if (!element.isFirstTry()) {
                element.go(Way.UNSTORED);
            } else {
                element.letGo();
            }
            return;
        }
        joins.countHit(element, answer.stale() ? Hit.STALE : Hit.FRESH);
        LoadResult<V> result = answer.stale()
                ? new LoadResult.Unshared<>(decoded.value())
                : new LoadResult.Loaded<>(decoded.value(), requestedAt);
        if (lease == null) {
            element.done(result);
        } else {
            element.keep(result);
            element.give(lease);
            round.toRefresh.add(element);
        }
    }

    /** Refreshes in the background, or by the call of this reader if the loader cannot leave the thread. */
    private <K, V> void refresh(BatchRead<K, V> batch, List<BatchElement<K, V>> toRefresh) {
        boolean started = refreshes.start(batch, toRefresh);
        for (BatchElement<K, V> element : toRefresh) {
            LoadLease lease = element.lease();
            LoadResult<V> older = requireNonNull(element.older());
            if (started || lease == null) {
                element.give(null);
                element.done(older);
            } else {
                joins.lead(element, lease);
            }
        }
    }

    private <K, V> void await(BatchElement<K, V> element) {
        Joined<V> joined = BatchUnstored.awaitFor(element, element.read().remainingWait(ticker));
        if (joined instanceof Joined.Served<V> served) {
            LoadResult<V> result = served.result();
            if (result.failure() instanceof StoreUnavailableException away) {
                element.isAway(away, ticker.nanoTime());
            } else if (result.failure() == null) {
                element.done(result);
            }
        } else if (joined instanceof Joined.Alone) {
            element.go(Way.ALONE);
        } else if (joined instanceof Joined.Overdue) {
            element.go(Way.UNSTORED);
        }
    }
}
