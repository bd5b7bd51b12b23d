package io.easykit.delayqueue.store;

import java.time.Instant;

/**
 * Called when a message is due earlier than those that were waiting, and with {@link Instant#EPOCH} when the subscription
 * holds, because earlier wakeups may have been missed.
 */
public interface WakeupListener {

    /**
     * Called for each wakeup.
     *
     * @param due the new earliest due time, by the store's clock
     */
    void onEarlierDue(ShardKey shard, Instant due);
}
