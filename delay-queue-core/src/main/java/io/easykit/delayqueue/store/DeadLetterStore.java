package io.easykit.delayqueue.store;

import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.Replacement;
import io.easykit.delayqueue.support.Bytes;
import java.time.Duration;
import java.util.List;

/** Redrives, purges and marks dead letters of one shard. Errors are those of {@link QueueStore}. */
public interface DeadLetterStore {

    /** Redrives dead letters, due at once. True for those that wait again; false for those not dead, or dead again since. */
    List<Boolean> redrive(ShardKey shard, List<DeadLetterRef> deaths);

    /**
     * Replaces the frame of a dead letter and redrives it under its id, in one step.
     *
     * @param incarnation first 8 bytes of the frame that is replaced; none if it has no frame, or for any
     * @param frame       the new one; not empty. A repetition with the same frame has the same outcome
     * @throws StoreFullException if the store is full; nothing was changed
     */
    Replacement.Outcome replace(ShardKey shard, DeadLetterRef death, Bytes incarnation, Bytes frame);

    /** Removes dead letters; true for those removed, false for those not dead, or dead again since. */
    List<Boolean> purge(ShardKey shard, List<DeadLetterRef> deaths);

    /**
     * Removes the oldest dead letters of at least this age, by the clock of the store and by that of this node, and returns how many.
     *
     * @param count 1 to {@link QueueStore#MAX_BATCH}; repeat it until a call returns less
     */
    int purge(ShardKey shard, Duration age, int count);

    /**
     * Reads ordering keys that dead letters have stopped.
     *
     * @param cursor {@link StoppedKeys#BEGIN}, then {@link StoppedKeys#next}
     */
    StoppedKeys stoppedKeys(ShardKey shard, String cursor);

    /**
     * Frees an ordering key that a dead letter has stopped; the dead letter stays.
     *
     * @param id of the dead letter
     * @return false if this message does not hold the key, or is not dead
     */
    boolean freeKey(ShardKey shard, String key, String id);

    /**
     * Marks dead letters as announced, so that {@link QueueInspector#errors} returns them as such. A later death of a message
     * is not announced again by this.
     *
     * @return true for those marked now, false for those not dead, dead again since, or marked before
     */
    List<Boolean> announced(ShardKey shard, List<DeadLetterRef> deaths);
}
