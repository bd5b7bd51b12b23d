package io.easykit.delayqueue.store;

import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.support.Bytes;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads messages and statistics of one shard, and checks whether it takes writes. Errors are those of {@link QueueStore}. */
public interface QueueInspector {

    /** Finds a message with all of its frame. */
    default Optional<StoredMessage> find(ShardKey shard, String id) {
        return find(shard, id, Integer.MAX_VALUE);
    }

    /**
     * Finds a message.
     *
     * @param frameBytes maximum length of the frame in the result, from 1; the rest is cut
     */
    Optional<StoredMessage> find(ShardKey shard, String id, int frameBytes);

    /** Reads one page of a place in the order of its time, with frames and errors cut. */
    Browsed browse(ShardKey shard, Browse page);

    /**
     * Reads errors of dead letters, the oldest first.
     *
     * @param after where the call before ended, or null to begin
     * @param count 1 to {@link DeadLetterErrors#MOST}
     */
    DeadLetterErrors errors(ShardKey shard, @Nullable Position after, int count);

    /**
     * Reads a piece of a message's frame, for frames that are too large for one reply.
     *
     * @param incarnation  first 8 bytes of the frame, or none for any message with this id
     * @param from  offset of the piece
     * @param count bytes of the piece; less at the end
     * @return empty if there is no such frame, or it ends before
     */
    Optional<Bytes> read(ShardKey shard, String id, Bytes incarnation, int from, int count);

    ShardStats stats(ShardKey shard);

    /**
     * Does a small write in a shard, to check whether messages can be stored there. Nothing of it remains for more than a
     * second.
     *
     * @throws io.easykit.delayqueue.DelayQueueException with the reason, if the shard takes no writes
     */
    default void checkWrites(ShardKey shard) {}
}
