package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.EntryStore.Snapshot;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Waits for other nodes by polling the entry: for their loads, and for their updates. One reader of a key polls for all readers
 * of it in this JVM.
 */
final class EntryPoller {

    /** How long readers wait for an update to end before they load while it runs. */
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
        return await(read.key(), forLoad(read, leaseLeft), Snapshot::loading);
    }

    /** As {@link #awaitLoad}, and holds no thread while it waits. */
    <V> CompletableFuture<LoadResult.@Nullable Loaded<V>> awaitLoadLater(AsyncCall<V> call, Duration leaseLeft) {
        return awaitLater(call, forLoad(call.read(), leaseLeft), Snapshot::loading);
    }

    private long forLoad(ReadRequest<?> read, Duration leaseLeft) {
        return Math.min(leaseLeft.toNanos() + FIRST_POLL_NANOS, read.remainingWait(ticker));
    }

    /**
     * Waits until there is a value, the update has ended, or the time is over, which is short.
     *
     * @return the value; null if there is none
     * @throws InterruptedException if the wait was interrupted
     */
    <V> LoadResult.@Nullable Loaded<V> awaitUpdate(ReadRequest<V> read) throws InterruptedException {
        return await(read.key(), forUpdate(read), Snapshot::updating);
    }

    /** As {@link #awaitUpdate}, and holds no thread while it waits. */
    <V> CompletableFuture<LoadResult.@Nullable Loaded<V>> awaitUpdateLater(AsyncCall<V> call) {
        return awaitLater(call, forUpdate(call.read()), Snapshot::updating);
    }

    private long forUpdate(ReadRequest<?> read) {
        return Math.min(UPDATE_WAIT.toNanos(), read.remainingWait(ticker));
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
        Wait<V> wait = new Wait<>(key, nanos, unchanged);
        while (wait.goesOn()) {
            ticker.pause(wait.nextPause());
            long requestedAt = ticker.nanoTime();
            wait.sees(entries.read(key), requestedAt);
        }
        return wait.found;
    }

    private <V> CompletableFuture<LoadResult.@Nullable Loaded<V>> awaitLater(
            AsyncCall<V> call, long nanos, Predicate<Snapshot> unchanged) {
        if (nanos <= 0) {
            return CompletableFuture.completedFuture(null);
        }
        CacheKey<V> key = call.read().key();
        long from = ticker.nanoTime();
        return pollLater(call, new Wait<>(key, nanos, unchanged))
                .whenComplete((found, failure) -> listener.onWait(key, Duration.ofNanos(ticker.nanoTime() - from)));
    }

    private <V> CompletableFuture<LoadResult.@Nullable Loaded<V>> pollLater(AsyncCall<V> call, Wait<V> wait) {
        if (!wait.goesOn()) {
            return CompletableFuture.completedFuture(wait.found);
        }
        return call.after(ticker.later(wait.nextPause()), () -> {
            long requestedAt = ticker.nanoTime();
            return call.readEntry(reply -> {
                wait.sees(reply.get(), requestedAt);
                return pollLater(call, wait);
            });
        });
    }

    /** The pauses of one wait, and what ends it. */
    private final class Wait<V> {

        private final CacheKey<V> key;
        private final Predicate<Snapshot> unchanged;
        private final long end;
        private long left;
        private long pause = FIRST_POLL_NANOS;
        private boolean over;
        private LoadResult.@Nullable Loaded<V> found;

        Wait(CacheKey<V> key, long nanos, Predicate<Snapshot> unchanged) {
            this.key = key;
            this.unchanged = unchanged;
            this.end = ticker.nanoTime() + nanos;
            this.left = nanos;
        }

        boolean goesOn() {
            return !over && left > 0;
        }

        long nextPause() {
            long next = Math.min(left, pause - (long) (ticker.random() * pause / 2));
            pause = Math.min(2 * pause, LAST_POLL_NANOS);
            return next;
        }

        void sees(Snapshot seen, long requestedAt) {
            Decoded<V> value = entries.fresh(key, seen);
            if (value != null) {
                found = new LoadResult.Loaded<>(value.value(), requestedAt);
            }
            over = value != null || !unchanged.test(seen);
            left = end - ticker.nanoTime();
        }
    }
}
