package io.easykit.cache.engine;

import io.easykit.cache.CacheLoadTimeoutException;
import io.easykit.cache.engine.BatchElement.Awaited;
import io.easykit.cache.engine.BatchElement.Way;
import io.easykit.cache.engine.LoadBulkhead.Permit;
import io.easykit.cache.engine.SingleFlight.Joined;
import java.util.ArrayList;
import java.util.List;

/**
 * Loads of several elements that are not stored, shared with {@link UncachedLoads}: this reader loads those that no other
 * reader of this JVM loads, by one call, and waits for the others afterwards.
 */
final class BatchUnstored {

    private final SingleFlight flights;
    private final BatchLoads loads;
    private final LoadBulkhead limit;
    private final Ticker ticker;

    BatchUnstored(UncachedLoads uncached, BatchLoads loads, LoadBulkhead limit, EngineContext engine) {
        this.flights = uncached.flights();
        this.loads = loads;
        this.limit = limit;
        this.ticker = engine.ticker();
    }

    /** Whether the reader loads an element itself. Otherwise it waits for the load of another one, and holds none. */
    <K, V> boolean lead(BatchElement<K, V> element) {
        if (element.way() == Way.ALONE) {
            return true;
        }
        Joined<V> joined = flights.tryJoin(element.key());
        if (joined instanceof Joined.Owner<V> own) {
            element.hold(flights, own.load());
        } else if (joined instanceof Joined.Running<V> other) {
            element.letGo();
            element.await(flights, other.load());
            return false;
        }
        return true;
    }

    /**
     * Loads all elements, or takes the results of other readers. Ends when all have a result. Waits for other readers no
     * longer than one reader may wait, however many of them fail one after the other.
     */
    <K, V> void load(BatchRead<K, V> batch, List<BatchElement<K, V>> elements, boolean withPermit) throws Throwable {
        List<BatchElement<K, V>> open = elements;
        long waitLeft = Long.MAX_VALUE;
        while (!open.isEmpty()) {
            try (Permits permits = new Permits()) {
                List<BatchElement<K, V>> mine = new ArrayList<>();
                for (BatchElement<K, V> element : open) {
                    if (lead(element) || mayLoadOverdue(element, permits)) {
                        mine.add(element);
                    }
                }
                loads.load(batch, mine, withPermit);
            }
            batch.requireNoFailure();
            open = open.stream().filter(BatchElement::isOpen).toList();
            long from = ticker.nanoTime();
            waitLeft = Math.min(waitLeft, longestWait(open));
            for (BatchElement<K, V> element : open) {
                await(element, waitLeft - (ticker.nanoTime() - from));
            }
            waitLeft -= ticker.nanoTime() - from;
            open = open.stream().filter(BatchElement::isOpen).toList();
        }
    }

    /**
     * @throws CacheLoadTimeoutException if the element is overdue, and there is no permit for it
     */
    private <K, V> boolean mayLoadOverdue(BatchElement<K, V> element, Permits permits) {
        if (!element.isOverdue()) {
            return false;
        }
        Permit permit = limit.tryEnterOverdue(element.key());
        if (permit == null) {
            throw new CacheLoadTimeoutException(element.key(), UncachedLoads.TOO_MANY);
        }
        permits.add(permit);
        replaceIfStuck(element, element.takeAwaited().load());
        return true;
    }

    private <K, V> void replaceIfStuck(BatchElement<K, V> element, InFlightLoad<V> other) {
        InFlightLoad<V> mine =
                SingleFlight.isStuck(element.read(), other) ? flights.replace(element.key(), other) : null;
        if (mine != null) {
            element.hold(flights, mine);
        }
    }

    private <K, V> long longestWait(List<BatchElement<K, V>> elements) {
        return elements.stream()
                .mapToLong(element -> element.read().remainingWait(ticker))
                .reduce(InFlightLoad.GRACE.toNanos(), Math::max);
    }

    private <K, V> void await(BatchElement<K, V> element, long nanos) {
        Joined<V> joined = awaitFor(element, nanos);
        if (joined instanceof Joined.Served<V> served && served.result().failure() == null) {
            element.done(served.result());
        } else if (joined instanceof Joined.Alone) {
            element.go(Way.ALONE);
        } else if (joined instanceof Joined.Overdue) {
            element.markOverdue();
        }
    }

    /** Waits for the load of another reader. Its failure is not one of this reader, which loads for itself then. */
    static <K, V> Joined<V> awaitFor(BatchElement<K, V> element, long nanos) {
        Awaited<V> awaited = element.takeAwaited();
        return awaited.flights()
                .await(element.read(), awaited.load(), awaited.load().isDone() ? 1 : nanos, null);
    }

    /** Permits of several loads, released together. */
    static final class Permits implements AutoCloseable {

        private final List<Permit> permits = new ArrayList<>();

        void add(Permit permit) {
            permits.add(permit);
        }

        @Override
        public void close() {
            permits.forEach(Permit::close);
            permits.clear();
        }
    }
}
