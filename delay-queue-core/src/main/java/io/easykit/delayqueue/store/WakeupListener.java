package io.easykit.delayqueue.store;

import java.time.Instant;

/**
 * Told when something is due earlier than what was waiting, and of {@link Instant#EPOCH} when the subscription holds,
 * because what came before may have been missed.
 */
public interface WakeupListener {

    /**
     * Called for each bell.
     *
     * @param due the new earliest due time, by the store's clock
     */
    void onEarlierDue(ShardKey shard, Instant due);
}
