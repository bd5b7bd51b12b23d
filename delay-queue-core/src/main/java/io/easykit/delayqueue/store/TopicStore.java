package io.easykit.delayqueue.store;

import java.time.Duration;
import java.util.Collection;

/**
 * What a store keeps of topics and shards besides their messages: shard counts, pauses, alerts and wakeup subscriptions. Errors
 * are those of {@link QueueStore}.
 */
public interface TopicStore {

    /** Does ahead what makes the first calls fast, and shows that the store answers. May be repeated at any time. */
    void prepare();

    /** Keeps the shard count of a topic when it is first used, and returns the one that is kept. */
    int declare(String topic, int shards);

    /** The shard count of a topic that is kept, or 0 if it was never used. */
    int declared(String topic);

    /**
     * Looks at one page of what is kept of messages and mends what a call that failed half way has left: messages in no place
     * wait again.
     *
     * @param position {@link Repaired#BEGIN}, then {@link Repaired#next} until {@link Repaired#isLast}
     */
    Repaired repair(ShardKey shard, String position);

    /** Stops claims of the shard; what is in flight goes on. True if they were not stopped before. */
    boolean pause(ShardKey shard);

    /** Resumes claims of the shard. True if they were stopped. */
    boolean resume(ShardKey shard);

    /**
     * Keeps for all nodes that a limit is exceeded; again keeps it longer. True for the first to say so.
     *
     * @param alert  name of the limit: letters and {@code _}
     * @param expiry until it is forgotten unless somebody says so again
     */
    boolean raise(ShardKey shard, String alert, Duration expiry);

    /** Keeps for all nodes that a limit is not exceeded any more. True for the first to say so. */
    boolean resolve(ShardKey shard, String alert);

    /**
     * Listens for messages that became due earlier than what was waiting. A hint that may be lost, or come twice: whoever
     * sleeps looks again after a second anyway. Returns at once, whether the store answers or not, and throws nothing;
     * the subscription is made in the background, and outlives outages.
     *
     * @param listener called on a thread of the store; has to return at once
     */
    Subscription subscribe(Collection<ShardKey> shards, WakeupListener listener);
}
