package io.easykit.cache.engine;

import static java.util.Objects.requireNonNull;

import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.Loader;
import io.easykit.cache.engine.LoadBulkhead.Permit;
import io.easykit.cache.engine.LoadResult.Loaded;
import io.easykit.cache.store.EntryCall;
import io.easykit.cache.store.EntryReply;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.LoadLease;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call of a loader for several elements. Elements with a load lease are stored, each with its own fencing token, and all
 * together; the lease of an element that is not stored is released. Observers see one load, which has the key of the first
 * element; listeners see one for each element.
 */
final class BatchLoads {

    private static final Logger log = LoggerFactory.getLogger(BatchLoads.class);

    private final EntryStore store;
    private final StoredLoads stored;
    private final LoadBulkhead limit;
    private final EngineContext engine;
    private final Ticker ticker;

    BatchLoads(EntryStore store, StoredLoads stored, LoadBulkhead limit, EngineContext engine) {
        this.store = store;
        this.stored = stored;
        this.limit = limit;
        this.engine = engine;
        this.ticker = engine.ticker();
    }

    /**
     * Loads all elements by one call, and completes the loads that they hold. A failure of the loader is the result of each of
     * them.
     *
     * @param withPermit whether the call needs a permit of the bulkhead
     */
    <K, V> void load(BatchRead<K, V> batch, List<BatchElement<K, V>> group, boolean withPermit) {
        if (!group.isEmpty()) {
            group.get(0).read().scope().run(() -> {
                loadInScope(batch, group, withPermit);
                return true;
            });
        }
    }

    private <K, V> void loadInScope(BatchRead<K, V> batch, List<BatchElement<K, V>> group, boolean withPermit) {
        BatchElement<K, V> first = group.get(0);
        long from = ticker.nanoTime();
        Permit permit = withPermit || needsFadingPermit(group) ? limit.enter(first.read()) : Permit.NONE;
        if (permit == null) {
            fail(group, limit.refused(first.read(), from));
            return;
        }
        try (permit;
                LoadReport report = new LoadReport(first.key(), engine)) {
            Loader<Map<K, V>, Throwable> loader =
                    batch.loaderOf(group, first.read().scope());
            LoadResult<Map<K, V>> loaded = LoadInProgress.load(loader, report.startedAt());
            permit.release();
            report.loaded();
            if (loaded.failure() == null) {
                finish(group, loaded, report);
            } else {
                group.forEach(element -> report.element(element.key(), Load.FAILED));
                fail(group, loaded);
                report.endObservation(Load.FAILED, loaded.failure());
            }
        }
    }

    /** As for a single read, loads without a lease need none: the holders of permits may be waiting for them. */
    private boolean needsFadingPermit(List<? extends BatchElement<?, ?>> group) {
        return group.stream().anyMatch(element -> element.lease() != null)
                && limit.isFading()
                && !LoadInProgress.mayBeInside();
    }

    /** Stores what may be stored. Then every element has its value. */
    private <K, V> void finish(List<BatchElement<K, V>> group, LoadResult<Map<K, V>> loaded, LoadReport report) {
        List<ToStore<K, V>> toStore = new ArrayList<>();
        List<BatchElement<K, V>> others = new ArrayList<>();
        List<LoadResult<V>> results = new ArrayList<>();
        for (BatchElement<K, V> element : group) {
            LoadResult<V> result = ofElement(element, loaded);
            LoadLease lease = element.lease();
            if (lease != null && result instanceof Loaded<V> value) {
                result = stored.encoded(element.read(), value);
            }
            if (lease != null && result instanceof Loaded<V> value && value.snapshot() != null) {
                toStore.add(new ToStore<>(element, lease, value, value.snapshot()));
            } else {
                others.add(element);
                results.add(result);
            }
        }
        store(toStore, report);
        release(others);
        for (int i = 0; i < others.size(); i++) {
            LoadResult<V> result = results.get(i);
            report.element(others.get(i).key(), result.failure() == null ? Load.NOT_STORED : Load.FAILED);
            others.get(i).done(result);
        }
        report.endObservation(toStore.isEmpty() ? Load.NOT_STORED : Load.STORED, null);
    }

    private record ToStore<K, V>(BatchElement<K, V> element, LoadLease lease, Loaded<V> loaded, Envelope bytes) {

        EntryCall.Store call(double random) {
            return new EntryCall.Store(
                    element.key(),
                    lease,
                    bytes,
                    ValueTtls.ttl(bytes, element.read().options(), random));
        }
    }

    private <K, V> LoadResult<V> ofElement(BatchElement<K, V> element, LoadResult<Map<K, V>> loaded) {
        @Nullable V value = ElementLoader.valueOf(element.key().spec(), requireNonNull(loaded.value()), element.id());
        if (element.lease() != null) {
            stored.succeeded(element.key());
        }
        return loaded instanceof Loaded<Map<K, V>> current
                ? new Loaded<>(value, current.asOf())
                : new LoadResult.UnsharableValue<>(value);
    }

    private <K, V> void store(List<ToStore<K, V>> all, LoadReport report) {
        if (all.isEmpty()) {
            return;
        }
        long sent = ticker.nanoTime();
        List<EntryReply<Boolean>> replies =
                store.callAll(all.stream().map(one -> one.call(ticker.random())).toList());
        for (int i = 0; i < all.size(); i++) {
            BatchElement<K, V> element = all.get(i).element;
            Loaded<V> loaded = all.get(i).loaded;
            EntryReply<Boolean> reply = replies.get(i);
            if (reply.failure() != null) {
                log.debug("The load of {} could not be stored", element.key(), reply.failure());
                report.element(element.key(), Load.NOT_STORED);
                element.done(loaded);
            } else if (Boolean.TRUE.equals(reply.value())) {
                report.element(element.key(), Load.STORED);
                element.done(stored.accepted(element.key(), all.get(i).lease, loaded, sent));
            } else {
                report.element(element.key(), Load.REJECTED);
                element.done(new LoadResult.Superseded<>(loaded.value(), loaded.asOf(), loaded.snapshot()));
            }
        }
    }

    /** Other readers of the elements do not fail with a batch that is not theirs: they load for themselves. */
    private <K, V> void fail(List<BatchElement<K, V>> group, LoadResult<Map<K, V>> failed) {
        Throwable failure = requireNonNull(failed.failure());
        group.forEach(element -> stored.failed(element.key(), failure));
        release(group);
        for (BatchElement<K, V> element : group) {
            LoadResult<V> own = failed instanceof LoadResult.Failed<Map<K, V>> shared
                    ? new LoadResult.Failed<>(failure, shared.asOf())
                    : new LoadResult.UnsharableFailure<>(failure);
            if (group.size() > 1 && own instanceof LoadResult.Failed) {
                element.letGo();
            }
            LoadResult<V> older = element.older();
            if (older != null) {
                stored.refreshFailed(element.key(), failure);
            }
            element.done(older != null ? older : own);
        }
    }

    /** Releases the load leases of elements that are not stored. */
    <K, V> void release(List<BatchElement<K, V>> elements) {
        List<EntryCall.Release> calls = new ArrayList<>();
        for (BatchElement<K, V> element : elements) {
            LoadLease lease = element.lease();
            if (lease != null) {
                calls.add(new EntryCall.Release(element.key(), lease));
                element.give(null);
            }
        }
        if (!calls.isEmpty()) {
            long failed = store.callAll(calls).stream()
                    .filter(reply -> reply.failure() != null)
                    .count();
            log.debug("{} load leases were released, and {} end by themselves", calls.size() - failed, failed);
        }
    }
}
