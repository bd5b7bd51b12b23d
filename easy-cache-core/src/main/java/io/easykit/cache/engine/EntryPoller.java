package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.EntryStore.Snapshot;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Waits for other nodes by polling the entry: for their loads, and for their updates. One reader of a key polls for all readers
 * of it in this JVM.
 */
final class EntryPoller {

    /** How long readers wait for an update to end before they load beside it. */
    static final Duration UPDATE_WAIT = Duration.ofMillis(50);

    static final long FIRST_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    static final long LAST_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final StoredEntries entries;
    private final CacheListener listener;
    private final Ticker ticker;

    EntryPoller(StoredEntries entries, EngineContext engine) {
        this.entries = entries;
        this.listener = engine.listener();
        this.ticker = engine.ticker();
    }

    /**
     * Waits until there is a value, the load of the other node has ended without one, or the time is over.
     *
     * @param leaseLeft maximum time until the other node's load lease ends
     * @return the value; null if there is none
     * @throws InterruptedException if the wait was interrupted
     */
    <V> LoadResult.@Nullable Loaded<V> awaitLoad(ReadRequest<V> read, Duration leaseLeft) throws InterruptedException {
        long nanos = Math.min(leaseLeft.toNanos() + FIRST_POLL_NANOS, read.remainingWait(ticker));
        return await(read.key(), nanos, Snapshot::loading);
    }

    /**
     * Waits until there is a value, the update has ended, or the time is over, which is short.
     *
     * @return the value; null if there is none
     * @throws InterruptedException if the wait was interrupted
     */
    <V> LoadResult.@Nullable Loaded<V> awaitUpdate(ReadRequest<V> read) throws InterruptedException {
        return await(read.key(), Math.min(UPDATE_WAIT.toNanos(), read.remainingWait(ticker)), Snapshot::updating);
    }

    private <V> LoadResult.@Nullable Loaded<V> await(CacheKey<V> key, long nanos, Predicate<Snapshot> unchanged)
            throws InterruptedException {
        if (nanos <= 0) {
            return null;
        }
        long from = ticker.nanoTime();
        try {
            return poll(key, nanos, unchanged);
        } finally {
            listener.onWait(key, Duration.ofNanos(ticker.nanoTime() - from));
        }
    }

    private <V> LoadResult.@Nullable Loaded<V> poll(CacheKey<V> key, long nanos, Predicate<Snapshot> unchanged)
            throws InterruptedException {
        long end = ticker.nanoTime() + nanos;
        long pause = FIRST_POLL_NANOS;
        for (long left = nanos; left > 0; left = end - ticker.nanoTime()) {
            ticker.pause(Math.min(left, pause - ThreadLocalRandom.current().nextLong(pause / 2)));
            long requestedAt = ticker.nanoTime();
            Snapshot seen = entries.read(key);
            Decoded<V> value = entries.fresh(key, seen);
            if (value != null) {
                return new LoadResult.Loaded<>(value.value(), requestedAt);
            }
            if (!unchanged.test(seen)) {
                return null;
            }
            pause = Math.min(2 * pause, LAST_POLL_NANOS);
        }
        return null;
    }
}
