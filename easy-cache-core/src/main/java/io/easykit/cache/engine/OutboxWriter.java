package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.Outbox;
import io.easykit.cache.store.OutboxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes updates that could not be sent to one cluster to the outbox, and closes them when the update has ended. */
final class OutboxWriter {

    private static final Logger log = LoggerFactory.getLogger(OutboxWriter.class);

    private static final int MOST_OPEN = 10_000;

    private final String clusterId;
    private final Outbox outbox;

    /**
     * Messages that were committed before their updates have ended, by the token of the update. Bounded, since an update
     * whose end cannot be observed is never closed.
     */
    private final Map<String, List<String>> open = Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, List<String>> eldest) {
            return size() > MOST_OPEN;
        }
    });

    private final AtomicBoolean failing = new AtomicBoolean();

    OutboxWriter(String clusterId, Outbox outbox) {
        this.clusterId = clusterId;
        this.outbox = outbox;
    }

    /**
     * Adds the keys of an update that is still to be committed.
     *
     * @param token of the update, to {@link #close} it
     * @param lease longer than the commit
     * @param beforeCommit whether the transaction of this thread is about to commit
     * @throws OutboxException if they could not be added
     */
    void add(Collection<? extends CacheKey<?>> keys, String token, Duration lease, boolean beforeCommit) {
        Outbox.Message message = message(keys);
        if (!outbox.add(message, beforeCommit, lease)) {
            open.computeIfAbsent(token, any -> new ArrayList<>()).add(message.id());
        }
    }

    /**
     * Ends an update. One that was prepared, or is in the outbox, needs no more: its lease or its message covers it.
     *
     * @param undelivered whether Redis has not acknowledged its end
     */
    void end(Collection<? extends CacheKey<?>> keys, String token, boolean undelivered) {
        if (!token.isEmpty()) {
            close(token);
        } else if (undelivered) {
            addLate(keys);
        }
    }

    /** Closes the messages of an update. If that fails, they are closed by the end of their lease. */
    void close(String token) {
        List<String> messages = open.remove(token);
        if (messages == null) {
            return;
        }
        try {
            outbox.close(messages);
        } catch (OutboxException failed) {
            log.debug("Messages {} stay open until the end of their lease", messages, failed);
        }
    }

    /** Adds the keys of an update that has ended already. If that fails, they are in this node's memory only. */
    void addLate(Collection<? extends CacheKey<?>> keys) {
        try {
            outbox.add(message(keys), false, Duration.ZERO);
            failing.set(false);
        } catch (OutboxException failed) {
            if (failing.compareAndSet(false, true)) {
                log.warn(
                        "Invalidations for Redis '{}' cannot be written to the outbox: {}. They are kept in memory"
                                + " and lost if this process ends before Redis is back. Check the database.",
                        clusterId,
                        failed.getMessage());
            }
        }
    }

    private Outbox.Message message(Collection<? extends CacheKey<?>> keys) {
        return new Outbox.Message(
                UUID.randomUUID().toString(),
                clusterId,
                keys.stream().map(CacheKey::name).toList());
    }
}
