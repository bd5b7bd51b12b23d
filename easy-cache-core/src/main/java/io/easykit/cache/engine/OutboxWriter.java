package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.Outbox;
import io.easykit.cache.store.OutboxException;
import io.easykit.cache.type.VisibleText;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes updates that could not be sent to one cluster to the outbox, and closes them when the update has ended. */
final class OutboxWriter {

    private static final Logger log = LoggerFactory.getLogger(OutboxWriter.class);

    private static final int MOST_COVERS = 10_000;

    private final String clusterId;
    private final Outbox outbox;
    private final Ticker ticker;

    /**
     * What other nodes have of updates that have not ended, by the token of the update. Bounded, since an update whose end cannot
     * be observed stays.
     */
    private final Map<String, Cover> covers = Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Cover> eldest) {
            return size() > MOST_COVERS;
        }
    });

    private final AtomicBoolean failing = new AtomicBoolean();
    private final OutboxWriteQueue late;
    private final UnwrittenInvalidations unwritten = new UnwrittenInvalidations(OutboxWriteQueue.MOST);

    OutboxWriter(String clusterId, Outbox outbox, Ticker ticker) {
        this.clusterId = clusterId;
        this.outbox = outbox;
        this.ticker = ticker;
        this.late = new OutboxWriteQueue(clusterId, ticker);
    }

    void start() {
        late.start();
    }

    void stop() {
        late.stop();
    }

    /**
     * Marks in Redis, and messages that were committed before their update has ended: other nodes invalidate the entries when the
     * leases are over. If the update ends later, they may have stored the old value since.
     */
    private static final class Cover {

        private final Queue<String> messages = new ConcurrentLinkedQueue<>();

        /** Ticker time of the end of each lease, by the first of the keys that have it. */
        private final Map<CacheKey<?>, Long> ends = new ConcurrentHashMap<>();

        List<String> takeMessages() {
            List<String> taken = List.copyOf(messages);
            messages.removeAll(taken);
            return taken;
        }

        boolean isOver(long now) {
            return ends.values().stream().anyMatch(end -> now - end >= 0);
        }
    }

    /**
     * Adds the keys of an update that is still to be committed.
     *
     * @param token of the update, to {@link #end} it
     * @param lease longer than the commit
     * @param beforeCommit whether the transaction of this thread is about to commit
     * @throws OutboxException if they could not be added
     */
    void add(Collection<? extends CacheKey<?>> keys, String token, Duration lease, boolean beforeCommit) {
        Outbox.Message message = message(keys);
        long sentAt = ticker.nanoTime();
        if (!outbox.add(message, beforeCommit, lease)) {
            cover(keys, token, lease, sentAt).messages.add(message.id());
        }
    }

    /**
     * Redis has acknowledged the mark of an update, or its renewal.
     *
     * @param sentAt ticker time before the command was sent
     */
    void prepared(Collection<? extends CacheKey<?>> keys, String token, Duration lease, long sentAt) {
        cover(keys, token, lease, sentAt);
    }

    /** Redis has not acknowledged the only mark of an update whose data may have changed already: nothing covers it. */
    void notPrepared(Collection<? extends CacheKey<?>> keys, String token) {
        cover(keys, token, Duration.ZERO, ticker.nanoTime());
    }

    private Cover cover(Collection<? extends CacheKey<?>> keys, String token, Duration lease, long sentAt) {
        Cover cover = covers.computeIfAbsent(token, any -> new Cover());
        cover.ends.put(keys.iterator().next(), sentAt + lease.toNanos());
        return cover;
    }

    /**
     * Ends an update. One that was prepared, or is in the outbox, needs no more before the end of its lease. One whose message is
     * part of its transaction needs no more at all.
     *
     * <p>The first of two ends closes messages that clear a cache: other nodes raise its epochs, and drop the entries of the message
     * twice. Messages that only name entries stay open until the second end or the end of their lease, and are delivered in each
     * round: until other nodes have read the epochs, they may compute such an entry from an older value. Marks in Redis cover the
     * update until their leases are over. A second end that comes later than that, and that Redis does not acknowledge, is written.
     *
     * @param undelivered whether Redis has not acknowledged its end
     */
    void end(Collection<? extends CacheKey<?>> keys, UpdateEnd end, boolean undelivered) {
        end(keys, end, undelivered, Runnable::run);
    }

    /** The same for an update that a worker ends: another thread writes. */
    void endLate(Collection<? extends CacheKey<?>> keys, UpdateEnd end, boolean undelivered) {
        end(keys, end, undelivered, late::submit);
    }

    /** Keys whose invalidation is lost if Redis has not taken it when this process ends. */
    UnwrittenInvalidations unwritten() {
        return unwritten;
    }

    private void end(
            Collection<? extends CacheKey<?>> keys, UpdateEnd end, boolean undelivered, Consumer<Runnable> writes) {
        String token = end.token();
        Cover cover = end.endsAgain() ? covers.get(token) : covers.remove(token);
        boolean stayOpen = end.endsAgain() && !PrefixClearing.isIn(keys);
        List<String> messages = cover == null || stayOpen ? List.of() : cover.takeMessages();
        if (!messages.isEmpty()) {
            close(messages, writes);
        }
        boolean uncovered = token.isEmpty() || (cover != null && cover.isOver(ticker.nanoTime()));
        if (undelivered && uncovered) {
            addLate(keys, writes);
        } else {
            unwritten.endedOtherwise(keys);
        }
    }

    private void close(List<String> messages, Consumer<Runnable> writes) {
        try {
            writes.accept(() -> close(messages));
        } catch (OutboxException refused) {
            log.debug("Messages {} stay open until the end of their lease", messages, refused);
        }
    }

    private void addLate(Collection<? extends CacheKey<?>> keys, Consumer<Runnable> writes) {
        unwritten.waiting(keys);
        try {
            writes.accept(() -> write(keys));
        } catch (OutboxException refused) {
            unwritten.failed(keys);
            warnOnce(refused);
        }
    }

    /** If that fails, they are closed by the end of their lease. */
    private void close(List<String> messages) {
        try {
            outbox.close(messages);
        } catch (OutboxException failed) {
            log.debug("Messages {} stay open until the end of their lease", messages, failed);
        }
    }

    /** Adds the keys of an update that has ended already. If that fails, they are in this node's memory only. */
    void addLate(Collection<? extends CacheKey<?>> keys) {
        addLate(keys, Runnable::run);
    }

    private void write(Collection<? extends CacheKey<?>> keys) {
        boolean written = false;
        try {
            outbox.add(message(keys), false, Duration.ZERO);
            written = true;
            failing.set(false);
        } catch (OutboxException failed) {
            warnOnce(failed);
        } finally {
            if (written) {
                unwritten.written(keys);
            } else {
                unwritten.failed(keys);
            }
        }
    }

    private void warnOnce(OutboxException failed) {
        if (failing.compareAndSet(false, true)) {
            log.warn(
                    "Invalidations for Redis '{}' cannot be written to the outbox: {}. They are kept in memory"
                            + " and lost if this process ends before Redis is back. Check the database.",
                    clusterId,
                    VisibleText.of(String.valueOf(failed.getMessage())));
        }
    }

    private Outbox.Message message(Collection<? extends CacheKey<?>> keys) {
        return new Outbox.Message(
                UUID.randomUUID().toString(),
                clusterId,
                keys.stream().map(CacheKey::name).toList());
    }
}
