package io.easykit.cache.engine;

import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheListener.Hit;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.Consistency;
import io.easykit.cache.DegradedOptions.CpReads;
import io.easykit.cache.LoadScope;
import io.easykit.cache.Transactions;
import io.easykit.cache.engine.FirstRead.Missed;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads without the store: an AP reader gets a value of the local level, or loads one and leaves it there for a short while;
 * a CP reader loads, or fails if so configured. The number of concurrent loads is limited. While the store is available, and only
 * a call has failed, the local level is empty ({@link LocalEntries}): both load.
 *
 * <p>Two readers do not wait for a permit: one amid uncommitted work of its caller, which holds a connection of the database,
 * and one inside a load, which holds a permit or is waited for by one that does. Otherwise they could wait for each other. On a
 * thread of a fork-join pool no load needs one while any load runs in this JVM ({@link LoadInProgress}).
 */
final class FallbackReader {

    private static final Logger log = LoggerFactory.getLogger(FallbackReader.class);

    private final CacheDispatcher normal;
    private final GuardedStore store;
    private final Freshness freshness;
    private final LocalEntries local;
    private final CpReads cpReads;
    private final UncachedLoads loads;
    private final CacheListener listener;
    private final Transactions transactions;
    private final Ticker ticker;

    FallbackReader(CacheDispatcher normal, Sources from, UncachedLoads loads, CpReads cpReads, EngineContext engine) {
        this.normal = normal;
        this.store = from.store;
        this.freshness = from.freshness;
        this.local = from.local;
        this.loads = loads;
        this.cpReads = cpReads;
        this.listener = engine.listener();
        this.transactions = engine.transactions();
        this.ticker = engine.ticker();
    }

    /** What it reads: the store where that is available, else the local level. */
    record Sources(GuardedStore store, Freshness freshness, LocalEntries local) {}

    /** Returns the value, or throws the exception of the loader. */
    <V> @Nullable V fetch(ReadRequest<V> read) throws Throwable {
        if (!store.isAvailable(read.key())) {
            // No call is tried, because a failed one would cost more than the local level.
            return fetchWithoutStore(read, CircuitBreaker.markedUnavailable());
        }
        FirstRead<V> first;
        try {
            first = normal.readFirst(read);
        } catch (StoreUnavailableException away) {
            log.debug("Reading {} without Redis", read.key(), away);
            return fetchWithoutStore(read, away);
        }
        return first instanceof Missed<V> missed ? fetchMissed(read, missed) : ((Decoded<V>) first).value();
    }

    /** A read that the store refuses after its first reply counts once, too. */
    private <V> @Nullable V fetchMissed(ReadRequest<V> read, Missed<V> first) throws Throwable {
        ReadRequest<V> strict = freshness.requiredFor(read);
        ReadCount count = ReadCount.of(listener, strict);
        try {
            return normal.fetch(strict, first, count);
        } catch (StoreUnavailableException away) {
            log.debug("Reading {} without Redis", read.key(), away);
            return fetchWithoutStore(read, away, count);
        } finally {
            count.end();
        }
    }

    /**
     * Returns the value if the cache has a fresh one; else null. Waits for no other caller.
     *
     * @throws StoreUnavailableException if the store is away
     */
    <V> @Nullable Decoded<V> freshHit(ReadRequest<V> read) {
        return normal.readFirst(read) instanceof Decoded<V> hit ? hit : null;
    }

    /** As {@link #fetch}, if a call has just found the store away. */
    <V> @Nullable V fetchWithoutStore(ReadRequest<V> read, StoreUnavailableException away) throws Throwable {
        return fetchWithoutStore(read, away, ReadCount.of(listener, read.key()));
    }

    /** @param count of the read, which may have been counted before the store was found away */
    <V> @Nullable V fetchWithoutStore(ReadRequest<V> read, StoreUnavailableException away, ReadCount count)
            throws Throwable {
        return withoutStore(freshness.requiredFor(read), away, count);
    }

    /**
     * Loads for one reader, which may be inside another load: waits for no other caller, and stores nothing.
     *
     * @param away null unless a call has just found the store away
     * @throws CacheUnavailableException if the reader must not load without the store
     */
    <V> @Nullable V loadAlone(ReadRequest<V> read, @Nullable StoreUnavailableException away) throws Throwable {
        if (away != null) {
            requireBypass(read, away);
        }
        listener.onMiss(read.key());
        return loads.loadAttached(read).get();
    }

    private <V> @Nullable V withoutStore(ReadRequest<V> read, StoreUnavailableException away, ReadCount count)
            throws Throwable {
        boolean strong = read.options().consistency() == Consistency.CP;
        requireBypass(read, away);
        if (LoadBulkhead.mayBeInside()) {
            count.miss();
            return loads.load(read).get();
        }
        try (LoadScope scope = transactions.openLoadScope()) {
            if (scope.attachedReason() != null) {
                count.miss();
                return loads.loadAttached(read).get();
            }
            return strong ? load(read.in(scope), count) : fromLocalLevel(read.in(scope), count);
        }
    }

    /**
     * @throws CacheUnavailableException if the reader must not load without the store
     */
    void requireBypass(ReadRequest<?> read, StoreUnavailableException away) {
        if (read.options().consistency() == Consistency.CP && cpReads == CpReads.FAIL) {
            String clusterId = read.key().spec().clusterId();
            throw new CacheUnavailableException(
                    clusterId,
                    "Redis '" + clusterId + "' is unavailable, so " + read.key()
                            + " cannot be read from it, and CP"
                            + " reads fail then. Repeat the call when Redis is back, or set 'easy-cache.degraded.cp-reads' to"
                            + " bypass.",
                    away);
        }
    }

    private <V> @Nullable V fromLocalLevel(ReadRequest<V> read, ReadCount count) throws Throwable {
        Decoded<V> known = known(read);
        if (known != null) {
            count.hit(Hit.LOCAL);
            return known.value();
        }
        return load(keeping(read), count);
    }

    /** The value in the local level; null if there is none for this reader. */
    <V> @Nullable Decoded<V> known(ReadRequest<V> read) {
        return freshness.allowsLocalLevel() ? local.get(read.key()) : null;
    }

    /** The owner of a load stores its value: readers that share it came later, perhaps after an invalidation. */
    private <V> ReadRequest<V> keeping(ReadRequest<V> read) {
        return read.with(() -> {
            long stamp = local.stamp(read.key());
            long startedAt = ticker.nanoTime();
            V value = read.loader().load();
            if (LoadInProgress.isStorable() && read.storable().test(value)) {
                local.put(read.key(), value, stamp, Duration.ofNanos(ticker.nanoTime() - startedAt));
            }
            return value;
        });
    }

    private <V> @Nullable V load(ReadRequest<V> read, ReadCount count) throws Throwable {
        count.miss();
        return loads.joinWithPermit(read).get();
    }
}
