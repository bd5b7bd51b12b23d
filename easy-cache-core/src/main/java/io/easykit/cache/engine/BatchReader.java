package io.easykit.cache.engine;

import static java.util.Objects.requireNonNull;

import io.easykit.cache.BatchLoader;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheListener.Hit;
import io.easykit.cache.Consistency;
import io.easykit.cache.LoadScope;
import io.easykit.cache.Transactions;
import io.easykit.cache.engine.BatchElement.Way;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads several elements. Those whose partition of the store is away are served together as by {@link FallbackReader}, when
 * all others have a result.
 */
final class BatchReader {

    private static final Logger log = LoggerFactory.getLogger(BatchReader.class);

    private final BatchDispatcher normal;
    private final BatchParts parts;
    private final FallbackReader single;
    private final Freshness freshness;
    private final LocalEntries local;
    private final CacheListener listener;
    private final Transactions transactions;
    private final Ticker ticker;

    BatchReader(
            BatchDispatcher normal,
            BatchParts parts,
            FallbackReader single,
            Freshness freshness,
            LocalEntries local,
            EngineContext engine) {
        this.normal = normal;
        this.parts = parts;
        this.single = single;
        this.freshness = freshness;
        this.local = local;
        this.listener = engine.listener();
        this.transactions = engine.transactions();
        this.ticker = engine.ticker();
    }

    /** Gives each element a value, or throws the exception of the loader. */
    <K, V> void fetch(BatchRead<K, V> batch) throws Throwable {
        normal.fetch(batch);
        List<BatchElement<K, V>> away = batch.away();
        if (!away.isEmpty()) {
            StoreUnavailableException why = requireNonNull(away.get(0).away());
            log.debug(
                    "Reading {} elements without Redis, {} first",
                    away.size(),
                    away.get(0).key(),
                    why);
            single.requireBypass(away.get(0).read(), why);
            try {
                withoutStore(batch, away);
            } finally {
                away.forEach(BatchElement::letGo);
            }
        }
    }

    private <K, V> void withoutStore(BatchRead<K, V> batch, List<BatchElement<K, V>> away) throws Throwable {
        away.forEach(element -> element.become(freshness.requiredFor(element.arrived())));
        if (LoadBulkhead.mayBeInside()) {
            loadAlone(batch, away);
            return;
        }
        try (LoadScope scope = transactions.openLoadScope()) {
            if (scope.attachedReason() != null) {
                loadAlone(batch, away);
                return;
            }
            List<BatchElement<K, V>> missing = away;
            BatchLoader<K, V, ?> loader = batch.loader();
            if (away.get(0).read().options().consistency() == Consistency.AP) {
                missing = withoutLocal(away);
                loader = keeping(batch, missing);
            }
            missing.forEach(element -> {
                countMiss(element);
                element.returnFrom(Way.UNSTORED);
                element.become(element.read().in(scope));
            });
            parts.unstored().load(new BatchRead<>(batch.elements(), loader), missing, true);
        }
    }

    private <K, V> void loadAlone(BatchRead<K, V> batch, List<BatchElement<K, V>> elements) throws Throwable {
        elements.forEach(element -> {
            element.returnFrom(Way.ALONE);
            countMiss(element);
        });
        parts.loads().load(batch, elements, false);
        batch.requireNoFailure();
    }

    private <K, V> List<BatchElement<K, V>> withoutLocal(List<BatchElement<K, V>> away) {
        List<BatchElement<K, V>> missing = new ArrayList<>();
        for (BatchElement<K, V> element : away) {
            Decoded<V> known = single.known(element.read());
            if (known == null) {
                missing.add(element);
            } else {
                element.returnFrom(Way.STORED);
                element.done(new LoadResult.Unshared<>(known.value()));
                if (element.isFirstCount()) {
                    listener.onHit(element.key(), Hit.LOCAL);
                }
            }
        }
        return missing;
    }

    private void countMiss(BatchElement<?, ?> element) {
        if (element.isFirstCount()) {
            listener.onMiss(element.key());
        }
    }

    /** As for a single read, the owner of the load puts the values into the local level. */
    private <K, V> BatchLoader<K, V, Throwable> keeping(BatchRead<K, V> batch, List<BatchElement<K, V>> missing) {
        Map<K, BatchElement<K, V>> byId = new HashMap<>();
        missing.forEach(element -> byId.put(element.id(), element));
        return ids -> {
            Map<K, Long> stamps = new HashMap<>();
            ids.forEach(id ->
                    stamps.put(id, local.stamp(requireNonNull(byId.get(id)).key())));
            long startedAt = ticker.nanoTime();
            Map<K, V> loaded = ElementLoader.requireAsked(
                    missing.get(0).key().spec(), batch.loader().load(ids), stamps.keySet());
            Duration age = Duration.ofNanos(ticker.nanoTime() - startedAt);
            if (LoadInProgress.isStorable()) {
                stamps.forEach((id, stamp) -> {
                    ReadRequest<V> read = requireNonNull(byId.get(id)).read();
                    V value = ElementLoader.valueOf(read.key().spec(), loaded, id);
                    if (read.storable().test(value)) {
                        local.put(read.key(), value, stamp, age);
                    }
                });
            }
            return loaded;
        };
    }
}
