package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Times of this node's updates, and of their late deliveries, by key. A reader on the node that ran an update sees the update:
 * the stale window is for other nodes.
 *
 * <p>Keys share a fixed number of slots, so nothing is ever forgotten too early, for any number of updates. A key that shares
 * the slot of an updated one is treated as updated, too: while it is itself stale, its readers wait for the load.
 */
final class OwnUpdates {

    private static final int SLOTS = 1 << 14;

    /** Redis counts in milliseconds, and its clock may be corrected during a window. */
    private static final long MARGIN_NANOS = Duration.ofSeconds(1).toNanos();

    private final Ticker ticker;
    private final long origin;

    /** Nanoseconds from the origin to the latest update; 0 if there was none. */
    private final AtomicLongArray latest = new AtomicLongArray(SLOTS);

    OwnUpdates(Ticker ticker) {
        this.ticker = ticker;
        this.origin = ticker.nanoTime() - 1;
    }

    /**
     * Call it when the data have changed, before the store is informed, and again afterwards: the window begins when the
     * store is informed.
     */
    void add(Collection<? extends CacheKey<?>> keys) {
        long now = ticker.nanoTime() - origin;
        keys.forEach(key -> add(slot(key), now));
    }

    /** As {@link #add}, for all entries of some caches. */
    void addAll(Collection<String> prefixes) {
        long now = ticker.nanoTime() - origin;
        prefixes.forEach(prefix -> add(slotOfAll(prefix), now));
    }

    private void add(int slot, long now) {
        latest.accumulateAndGet(slot, now, Math::max);
    }

    /** The same read; a strict one if this node has updated its key and a value from before could still be found. */
    <V> ReadRequest<V> strict(ReadRequest<V> read) {
        long updated = Math.max(
                latest.get(slot(read.key())),
                latest.get(slotOfAll(read.key().spec().prefix())));
        if (updated == 0) {
            return read;
        }
        long age = ticker.nanoTime() - origin - updated;
        boolean over = age >= read.options().effectiveStaleWindow().toNanos() + MARGIN_NANOS;
        return over ? read : read.notBefore(origin + updated);
    }

    private static int slot(CacheKey<?> key) {
        return key.isAll() ? slotOfAll(key.spec().prefix()) : slot(key.hashCode());
    }

    /** The slot of the key that stands for all entries of the cache. */
    private static int slotOfAll(String prefix) {
        return slot(prefix.hashCode());
    }

    private static int slot(int hash) {
        return (hash ^ hash >>> 16) & SLOTS - 1;
    }
}
