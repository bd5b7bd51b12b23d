package io.easykit.cache;

import io.easykit.cache.CacheListener.Hit;
import io.easykit.cache.Values.Opened;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Goes on without the store: an AP reader gets what the local level has, or what it loads and leaves there for a short
 * while; a CP reader gets what it loads.
 */
final class DegradingReader implements CacheReader {

    private static final Logger log = LoggerFactory.getLogger(DegradingReader.class);

    private final CacheReader normal;
    private final LocalEntries local;
    private final SoloLoads loads;
    private final CacheListener listener;
    private final Transactions transactions;

    DegradingReader(CacheReader normal, LocalEntries local, Engine engine) {
        this.normal = normal;
        this.local = local;
        this.listener = engine.listener();
        this.transactions = engine.transactions();
        this.loads = new SoloLoads(engine.listener(), engine.ticker());
    }

    @Override
    public <V> @Nullable V fetch(Read<V> read) throws Throwable {
        try {
            return normal.fetch(read);
        } catch (StoreUnavailableException away) {
            log.debug("Reading {} without Redis", read.key(), away);
            return withoutStore(read);
        }
    }

    private <V> @Nullable V withoutStore(Read<V> read) throws Throwable {
        if (transactions.isActive()) {
            return loads.load(read).get();
        }
        if (read.options().consistency() == Consistency.CP) {
            return loads.join(read, null).get();
        }
        Opened<V> known = local.get(read.key());
        if (known != null) {
            listener.onHit(read.key(), Hit.LOCAL);
            return known.value();
        }
        listener.onMiss(read.key());
        return loads.join(keeping(read), null).get();
    }

    /** Whoever loads puts in what it loaded: those who share it came later, perhaps after an invalidation. */
    private <V> Read<V> keeping(Read<V> read) {
        return read.with(() -> {
            long stamp = local.stamp(read.key());
            V value = read.loader().load();
            if (read.storable().test(value)) {
                local.put(read.key(), value, stamp);
            }
            return value;
        });
    }
}
