package io.easykit.cache.store;

import io.easykit.cache.CacheKey;
import io.easykit.cache.OutboxBacklog;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/**
 * A transactional outbox: messages in the application's database about updates that could not be prepared in Redis before
 * their commit. A node that reaches both delivers them, so that they survive the node that made the update.
 *
 * <p>All times are of the database's clock. Each method that throws may or may not have had its effect; all may be called
 * again.
 */
public interface Outbox {

    /**
     * After this time a message is delivered, if a node reaches both the database and Redis: a round, and the lease of the
     * node that delivered before.
     */
    Duration MAX_DELAY = Duration.ofMillis(2500);

    /**
     * Identity of the outbox, the same for all nodes that share it and for no other. Nodes agree by it on the one that reads.
     *
     * @throws OutboxException if the database does not answer
     */
    String id();

    /**
     * Adds a message.
     *
     * @param join whether this thread is about to commit a transaction. If that one writes to the database of this
     *     outbox, the message becomes part of it: visible after the commit, gone after a rollback. Otherwise it is
     *     committed at once
     * @param open if it is committed at once: how long the update may still be running, zero if it has ended. Until then,
     *     or until {@link #close}, readers may load the old value, so the message is delivered repeatedly
     * @return whether it became part of the transaction
     * @throws OutboxException if it could not be added
     */
    boolean add(Message message, boolean join, Duration open);

    /** Records that the updates of these messages have ended. */
    void close(Collection<String> messageIds);

    /**
     * Some of the messages of a cluster that are due, the oldest first: those that wait for delivery, and those whose
     * retention after a delivery is over. Empty only if there are none; then it costs one indexed query.
     */
    List<Due> due(String clusterId, int limit);

    /**
     * Some of the messages of a cluster, due or not, delivered or not, in the order of their ids. Empty only if there are no
     * more.
     *
     * @param after the last id before them; empty for the first
     */
    List<Message> all(String clusterId, String after, int limit);

    /** Records that messages were delivered. They are due again after the retention, to be deleted. */
    void delivered(Collection<String> messageIds, Duration retention);

    /** Postpones messages whose updates may still be running. */
    void postpone(Collection<String> messageIds, Duration delay);

    void delete(Collection<String> messageIds);

    /** Makes all messages of a cluster that were delivered and not yet deleted wait for delivery again. */
    void redeliver(String clusterId);

    /**
     * Counts the messages of a cluster. Called every ten seconds at most.
     *
     * @throws OutboxException if the database does not answer
     */
    OutboxBacklog backlog(String clusterId);

    /**
     * The entries that one update changes in one cluster.
     *
     * @param id unique
     * @param keys names of the entries, as {@link CacheKey#name()}
     */
    record Message(String id, String clusterId, List<String> keys) {

        public Message {
            keys = List.copyOf(keys);
        }
    }

    /** A message that is due. */
    record Due(Message message, State state) {}

    /** The action for a due message. */
    enum State {
        /** Its update has ended: deliver it. */
        WAITING,
        /** Its update may still be running: deliver it now and again later. */
        OPEN,
        /** It was delivered and its retention is over: delete it. */
        EXPIRED
    }
}
