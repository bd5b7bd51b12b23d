package io.easykit.cache.engine;

import io.easykit.cache.CacheListener;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.EntryReply;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Waits for the loads and updates of other nodes, as {@link EntryPoller} does, for several elements together. */
final class BatchPoller {

    private final StoredEntries entries;
    private final BatchEntries batches;
    private final CacheListener listener;
    private final Ticker ticker;

    BatchPoller(StoredEntries entries, BatchEntries batches, EngineContext engine) {
        this.entries = entries;
        this.batches = batches;
        this.listener = engine.listener();
        this.ticker = engine.ticker();
    }

    /** An element that waits. */
    static final class Waiting<K, V> {

        private final BatchElement<K, V> element;
        private final long nanos;
        private final Predicate<Snapshot> unchanged;

        private Waiting(BatchElement<K, V> element, long nanos, Predicate<Snapshot> unchanged) {
            this.element = element;
            this.nanos = nanos;
            this.unchanged = unchanged;
        }

        BatchElement<K, V> element() {
            return element;
        }

        /** @param leaseLeft maximum time until the other node's load lease ends */
        static <K, V> Waiting<K, V> forLoad(BatchElement<K, V> element, Duration leaseLeft) {
            return new Waiting<>(element, leaseLeft.toNanos() + EntryPoller.FIRST_POLL_NANOS, Snapshot::loading);
        }

        static <K, V> Waiting<K, V> forUpdate(BatchElement<K, V> element) {
            return new Waiting<>(element, EntryPoller.UPDATE_WAIT.toNanos(), Snapshot::updating);
        }
    }

    /**
     * Waits until each element has a value, or its load or update has ended, or its time is over. Then none of them holds a
     * load any more, and those without a value are open.
     */
    <K, V> void await(List<Waiting<K, V>> all) {
        long from = ticker.nanoTime();
        try {
            poll(new ArrayList<>(all), from);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            all.stream()
                    .map(one -> one.element)
                    .filter(BatchElement::isOpen)
                    .forEach(one -> one.go(BatchElement.Way.ALONE));
        } finally {
            all.forEach(one -> one.element.letGo());
        }
    }

    private <K, V> void poll(List<Waiting<K, V>> waiting, long from) throws InterruptedException {
        long pause = EntryPoller.FIRST_POLL_NANOS;
        while (true) {
            long left = leave(waiting, from);
            if (waiting.isEmpty()) {
                return;
            }
            ticker.pause(Math.min(left, pause - (long) (ticker.random() * pause / 2)));
            look(waiting, from);
            pause = Math.min(2 * pause, EntryPoller.LAST_POLL_NANOS);
        }
    }

    /** Removes those whose time is over. Returns the shortest time that is left, in nanoseconds. */
    private <K, V> long leave(List<Waiting<K, V>> waiting, long from) {
        long now = ticker.nanoTime();
        long[] shortest = {Long.MAX_VALUE};
        waiting.removeIf(one -> {
            long left = Math.min(one.nanos - (now - from), one.element.read().remainingWait(ticker));
            if (left <= 0) {
                end(one, from);
                return true;
            }
            shortest[0] = Math.min(shortest[0], left);
            return false;
        });
        return shortest[0];
    }

    private <K, V> void look(List<Waiting<K, V>> waiting, long from) {
        long requestedAt = ticker.nanoTime();
        List<EntryReply<Snapshot>> replies =
                batches.read(waiting.stream().map(one -> one.element.read()).toList());
        List<Waiting<K, V>> before = List.copyOf(waiting);
        waiting.clear();
        for (int i = 0; i < before.size(); i++) {
            Waiting<K, V> one = before.get(i);
            if (isStillWaiting(one, replies.get(i), requestedAt)) {
                waiting.add(one);
            } else {
                end(one, from);
            }
        }
    }

    private <K, V> boolean isStillWaiting(Waiting<K, V> one, EntryReply<Snapshot> reply, long requestedAt) {
        BatchElement<K, V> element = one.element;
        try {
            Snapshot seen = reply.get();
            Decoded<V> value = entries.fresh(element.key(), seen);
            if (value != null) {
                element.done(new LoadResult.Loaded<>(value.value(), requestedAt));
            }
            return value == null && one.unchanged.test(seen);
        } catch (StoreUnavailableException away) {
            element.isAway(away, ticker.nanoTime());
            return false;
        }
    }

    private <K, V> void end(Waiting<K, V> one, long from) {
        listener.onWait(one.element.key(), Duration.ofNanos(ticker.nanoTime() - from));
        one.element.letGo();
    }
}
