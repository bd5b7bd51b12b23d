package io.easykit.cache.engine;

import io.easykit.cache.BatchLoader;
import io.easykit.cache.CacheKey;
import io.easykit.cache.LoadAbandonedException;
import io.easykit.cache.LoadObserver;
import io.easykit.cache.LoadScope;
import io.easykit.cache.Reload;
import io.easykit.cache.Transactions;
import io.easykit.cache.async.AwaitedTask;
import io.easykit.cache.store.EntryReply;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Fetched;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Refreshes several elements of one batch as {@link Refreshes} does one: in one task, by one call of the loader. */
final class BatchRefreshes {

    private static final Logger log = LoggerFactory.getLogger(BatchRefreshes.class);

    private final BatchEntries entries;
    private final BatchLoads loads;
    private final Refreshes single;
    private final SingleFlight flights;
    private final Transactions transactions;
    private final Executor background;
    private final LoadObserver observer;
    private final RateLimitedLog faultLine;

    BatchRefreshes(ReadParts parts, BatchParts batch, EngineContext engine) {
        this.entries = batch.entries();
        this.loads = batch.loads();
        this.single = parts.refreshes();
        this.flights = parts.flights();
        this.transactions = engine.transactions();
        this.background = engine.background();
        this.observer = engine.observer();
        this.faultLine = new RateLimitedLog(engine.ticker());
    }

    /** Whether a fresh value is near its end, and this reader may refresh it. */
    boolean isDue(BatchElement<?, ?> element, Snapshot seen) {
        return single.isDue(element.read(), seen);
    }

    /**
     * Refreshes values, each under the load lease that came with it or, without one, under a lease of its own if no other
     * node refreshes it already. Those that have failed lately wait: their leases are released.
     *
     * @return false if the loader cannot leave the calling thread; then elements that keep their lease are not refreshed
     */
    <K, V> boolean start(BatchRead<K, V> batch, List<BatchElement<K, V>> due) {
        Map<Boolean, List<BatchElement<K, V>>> byNow =
                due.stream().collect(Collectors.partitioningBy(element -> single.mayTry(element.key())));
        List<BatchElement<K, V>> now = byNow.getOrDefault(true, List.of());
        loads.release(byNow.getOrDefault(false, List.of()));
        if (now.isEmpty()) {
            return true;
        }
        boolean mayLeave = now.get(0).read().options().reload() == Reload.BACKGROUND;
        BatchLoader<K, V, ?> loader = mayLeave ? batch.loader().forBackground() : null;
        if (loader == null) {
            return false;
        }
        LoadScope scope = transactions.backgroundScope();
        List<BatchElement<K, V>> there = new ArrayList<>();
        for (BatchElement<K, V> element : now) {
            BatchElement<K, V> copy =
                    new BatchElement<>(element.id(), element.arrived().in(scope));
            copy.give(element.lease());
            there.add(copy);
        }
        inBackground(new BatchRead<>(there, loader));
        return true;
    }

    private <K, V> void inBackground(BatchRead<K, V> batch) {
        try {
            background.execute(AwaitedTask.of(
                    () -> ObservedReload.run(observer, () -> LoadInProgress.outside(() -> reload(batch))),
                    fault -> notRun(batch.elements(), fault)));
        } catch (RejectedExecutionException full) {
            log.debug(
                    "No thread is free to refresh {} elements", batch.elements().size());
            loads.release(batch.elements());
        } catch (Throwable fault) {
            notRun(batch.elements(), fault);
        }
    }

    private <K, V> void notRun(List<BatchElement<K, V>> elements, Throwable fault) {
        report(elements, fault);
        loads.release(elements);
    }

    private void report(List<? extends BatchElement<?, ?>> elements, Throwable fault) {
        int size = elements.size();
        CacheKey<?> first = elements.get(0).key();
        if (faultLine.isDue()) {
            log.warn(
                    "Cannot refresh {} elements in the background, {} first, so they are loaded when they expire. Check the"
                            + " executor of refreshes",
                    size,
                    first,
                    fault);
        } else {
            log.debug("Cannot refresh {} elements in the background either, {} first", size, first, fault);
        }
    }

    /** An element with a lease is loaded beside a running load; one without is left to that. */
    private <K, V> void reload(BatchRead<K, V> batch) {
        try {
            List<BatchElement<K, V>> toFetch = new ArrayList<>();
            for (BatchElement<K, V> element : batch.elements()) {
                InFlightLoad<V> mine = flights.tryLead(element.key());
                if (mine != null) {
                    element.hold(flights, mine);
                    if (element.lease() == null) {
                        toFetch.add(element);
                    }
                }
            }
            fetch(toFetch);
            List<BatchElement<K, V>> toLoad = batch.elements().stream()
                    .filter(element -> element.lease() != null)
                    .toList();
            loads.load(batch, toLoad, false);
            toLoad.forEach(this::noteFailure);
        } finally {
            batch.elements().forEach(BatchElement::letGo);
        }
    }

    private <K, V> void fetch(List<BatchElement<K, V>> toFetch) {
        List<EntryReply<Fetched>> replies =
                entries.fetch(toFetch.stream().map(BatchElement::read).toList());
        for (int i = 0; i < replies.size(); i++) {
            if (replies.get(i).value() instanceof Fetched.Leased mine) {
                toFetch.get(i).give(mine.lease());
            } else {
                toFetch.get(i).letGo();
            }
        }
    }

    private void noteFailure(BatchElement<?, ?> element) {
        LoadResult<?> result = element.result();
        Throwable failure = result == null ? null : result.failure();
        if (failure instanceof LoadAbandonedException) {
            log.debug("The refresh of {} is dropped", element.key(), failure);
        } else if (failure != null) {
            single.failed(element.key(), failure);
        }
    }
}
