package io.easykit.delayqueue.store;

import io.easykit.delayqueue.Bytes;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.ShardStats;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads messages and statistics of one shard, checks whether it takes writes, and redrives or purges its dead letters. Errors are those of {@link QueueStore}.
 */
public interface QueueInspector {

    Optional<StoredMessage> find(ShardKey shard, String id);

    /**
     * One page of a place, in order of its time: the soonest due, the soonest lease end, the oldest death first.
     *
     * @param offset how many to skip
     * @param count  1 to {@link QueueStore#MAX_BATCH}
     */
    Page list(ShardKey shard, MessageInfo.State place, long offset, int count);

    /**
     * Reads a piece of a message's frame, for frames that are too large for one reply.
     *
     * @param incarnation  first bytes of the frame, or none for any message with this id
     * @param from  offset of the piece
     * @param count bytes of the piece; less at the end
     * @return empty if there is no such frame, or it ends before
     */
    Optional<Bytes> read(ShardKey shard, String id, Bytes incarnation, int from, int count);

    /** Sends dead letters back; true for those that wait again, false for those not dead, or dead again since. */
    List<Boolean> redrive(ShardKey shard, List<DeadLetterRef> deaths, RedriveRate pace);

    /**
     * Sends back the oldest dead letters up to a cut-off. To redrive all, repeat it with the cut-off that the first page
     * answers, until a page is not full.
     *
     * @param diedUntil the cut-off, or null for the store's now
     * @param count     1 to {@link QueueStore#MAX_BATCH}
     */
    RedrivenPage redrive(ShardKey shard, @Nullable Instant diedUntil, int count, RedriveRate pace);

    /** Removes dead letters; true for those removed, false for those not dead, or dead again since. */
    List<Boolean> purge(ShardKey shard, List<DeadLetterRef> deaths);

    /**
     * Removes the oldest dead letters of at least this age, and returns how many.
     *
     * @param count 1 to {@link QueueStore#MAX_BATCH}; repeat it until a call returns less
     */
    int purge(ShardKey shard, Duration age, int count);

    ShardStats stats(ShardKey shard);

    /**
     * Does a small write in a shard, to check whether messages can be stored there. Nothing of it remains for more than a
     * second.
     *
     * @throws io.easykit.delayqueue.DelayQueueException with the reason, if the shard takes no writes
     */
    default void checkWrites(ShardKey shard) {}
}
