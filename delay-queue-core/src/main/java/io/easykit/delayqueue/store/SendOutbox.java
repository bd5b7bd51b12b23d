package io.easykit.delayqueue.store;

import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.support.Bytes;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A transactional outbox: rows in the application's database, each a message that a transaction sends. They are visible from
 * the commit of this transaction on, and gone after its rollback. The holder of the lease of their owner stores the messages
 * in the queue, and deletes the rows.
 *
 * <p>Times in rows are those of the database's clock. A lease has no end in time: its holder renews it, and another process that has
 * seen it unchanged for its duration takes it.
 *
 * <p>Each method throws {@link SendOutboxException} if the database fails. All but {@link #write} and {@link #withdraw} work
 * in a transaction of their own, may have had their effect when they throw, and can be called again.
 */
public interface SendOutbox {

    /** The most rows of one call. */
    int MAX_ROWS = 100;

    /**
     * Writes rows in the transaction of this thread.
     *
     * @param owner the sending process
     * @return false if the transaction has committed already; then nothing is written
     * @throws SendOutboxException also if the transaction does not write to the database of this outbox
     */
    boolean write(String owner, List<Written> rows);

    /**
     * Deletes rows that the transaction of this thread has written.
     *
     * @param nonces of their messages
     * @return how many there were; 0 if the transaction has committed already, because then the rows stay
     */
    int withdraw(String owner, Collection<Long> nonces);

    /**
     * Rows of an owner in the order of their numbers. Two transactions at the same time may commit in another order, so a row
     * with a smaller number can become visible later.
     *
     * @param after  the last number before them
     * @param except topics to leave out
     */
    List<Row> rows(String owner, long after, Set<String> except, int limit);

    /** The frames of rows. A row that is gone is missing. */
    Map<RowId, Bytes> frames(Collection<RowId> rows);

    /** Deletes rows. Those that are gone are no failure. */
    void delete(Collection<RowId> rows);

    /** The owners that have rows or a lease, with their leases. */
    List<Owner> owners();

    /**
     * Takes the lease of an owner.
     *
     * @param seen the lease to replace, which must not have changed; null if there must be none
     * @return whether the holder has it now
     */
    boolean take(String owner, String holder, @Nullable Lease seen);

    /** Renews a lease; false if another one holds it, or nobody. */
    boolean renew(String owner, String holder);

    /** Gives up a lease, if the holder has it. */
    void release(String owner, String holder);

    /** The clock of the database, in milliseconds since the epoch. */
    long millis();

    /** Counts the rows of all owners. */
    Backlog backlog();

    /**
     * A message without its frame.
     *
     * @param nonce       as in the frame
     * @param dueAt       milliseconds since the epoch; of a delay by the clock of the database, else by that of the queue
     * @param isDelay     whether the due time was given as a delay
     * @param sentAt      time of the send in milliseconds since the epoch, by the clock of the database
     * @param replicaWait replicas that have to confirm the message, or null
     */
    record Send(
            String topic,
            String id,
            long nonce,
            long dueAt,
            boolean isDelay,
            long sentAt,
            @Nullable ReplicaWait replicaWait) {}

    /** A row to be written. */
    record Written(Send send, Bytes frame) {}

    /**
     * The identity of a row. The number alone would not do: a database that loses its last commits in a fail-over gives their
     * numbers to other rows.
     */
    record RowId(long number, long nonce) {}

    /**
     * A row that is visible.
     *
     * @param size   of its frame in bytes
     * @param damage why the row cannot be sent, or null. Then the send has its topic, and what else could be read
     */
    record Row(long number, Send send, int size, @Nullable RuntimeException damage) {

        public RowId id() {
            return new RowId(number, send.nonce);
        }

        public Row(long number, Send send, int size) {
            this(number, send, size, null);
        }
    }

    /** An owner of rows, or of a lease; its lease is null if nobody holds it. */
    record Owner(String name, @Nullable Lease lease) {}

    /**
     * The lease of an owner.
     *
     * @param renewals changes with each renewal
     */
    record Lease(String holder, long renewals) {}

    /**
     * A count of rows.
     *
     * @param oldest time of the oldest send in milliseconds since the epoch; 0 without rows
     */
    record Backlog(long rows, long oldest) {}
}
