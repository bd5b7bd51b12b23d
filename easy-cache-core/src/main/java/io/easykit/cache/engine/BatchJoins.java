package io.easykit.cache.engine;

import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheListener.Hit;
import io.easykit.cache.engine.BatchElement.Way;
import io.easykit.cache.engine.BatchUnstored.Permits;
import io.easykit.cache.engine.LoadBulkhead.Permit;
import io.easykit.cache.engine.SingleFlight.Joined;
import io.easykit.cache.store.LoadLease;

/** How the elements of a batch become its own, or join the loads of other readers. Each counts as one hit or one miss. */
final class BatchJoins {

    private final SingleFlight flights;
    private final LoadBulkhead limit;
    private final CacheListener listener;
    private final Ticker ticker;

    BatchJoins(SingleFlight flights, LoadBulkhead limit, EngineContext engine) {
        this.flights = flights;
        this.limit = limit;
        this.listener = engine.listener();
        this.ticker = engine.ticker();
    }

    /** Whether the reader owns the load of an element now. */
    <K, V> boolean join(BatchElement<K, V> element, Permits permits) {
        countMiss(element);
        Joined<V> joined = flights.tryJoin(element.key());
        if (joined instanceof Joined.Owner<V> own) {
            element.hold(flights, own.load());
            return true;
        }
        if (!(joined instanceof Joined.Running<V> other)) {
            element.go(Way.ALONE);
            return false;
        }
        InFlightLoad<V> running = other.load();
        if (!running.isDone() && running.isStuck(element.read().options().loadWaitTimeout())) {
            return takeOver(element, running, permits);
        }
        if (!running.isDone() && element.read().remainingWait(ticker) <= 0) {
            element.go(Way.UNSTORED);
        } else {
            element.await(flights, running);
        }
        return false;
    }

    /** Loads and stores in place of a load that may never return. */
    private <K, V> boolean takeOver(BatchElement<K, V> element, InFlightLoad<V> stuck, Permits permits) {
        Permit permit = limit.tryEnterOverdue(element.key());
        if (permit == null) {
            element.go(Way.UNSTORED);
            return false;
        }
        permits.add(permit);
        InFlightLoad<V> mine = flights.replace(element.key(), stuck);
        if (mine != null) {
            element.hold(flights, mine);
        }
        return mine != null;
    }

    /** Has the reader load an element. */
    <K, V> void lead(BatchElement<K, V> element, LoadLease lease) {
        countMiss(element);
        if (!element.isHeld()) {
            element.hold(flights, flights.lead(element.key()));
        }
        element.give(lease);
    }

    void countMiss(BatchElement<?, ?> element) {
        if (element.isFirstCount()) {
            if (ExpiredValues.areUsedBy(element.read())) {
                element.deferMiss(true);
            } else {
                listener.onMiss(element.key());
            }
        }
    }

    /** An element without a value that may still get an expired one is a miss in the end. */
    void countDeferredMiss(BatchElement<?, ?> element) {
        if (element.isMissDeferred()) {
            element.deferMiss(false);
            listener.onMiss(element.key());
        }
    }

    void countExpired(BatchElement<?, ?> element) {
        if (element.isFirstCount() || element.isMissDeferred()) {
            element.deferMiss(false);
            listener.onHit(element.key(), Hit.EXPIRED);
        }
    }

    void countHit(BatchElement<?, ?> element, Hit hit) {
        if (element.isFirstCount()) {
            listener.onHit(element.key(), hit);
        }
    }
}
