package io.easykit.delayqueue.store;

import java.time.Duration;
import java.util.Collection;

/**
 * Data of topics and shards besides their messages: shard counts, pauses, alerts and wakeup subscriptions. Errors are those
 * of {@link QueueStore}.
 */
public interface TopicStore {

    /** Opens connections and loads scripts, so that the first calls are fast. Fails if the store does not answer. May be repeated. */
    void prepare();

    /**
     * Stores the shard count of a topic when it is first used, and returns the stored one.
     *
     * @param count as the caller knows it. If its home shards are those that are kept, shards that were added later are added again
     *     where the store has lost them
     */
    ShardCount declare(String topic, ShardCount count);

    /** As {@link #declare(String, ShardCount)}, without shards that were added later. Returns the number of all shards. */
    default int declare(String topic, int shards) {
        return declare(topic, ShardCount.of(shards)).all();
    }

    /** The shard count of a topic that is kept; {@link ShardCount#NONE} if it was never used. Changes nothing. */
    ShardCount declared(String topic);

    /**
     * Adds shards to a topic that was used. Nothing changes if it has as many, or was never used.
     *
     * @param all number of shards to have at least
     * @return the count that is kept, which is greater if others add shards as well
     */
    ShardCount grow(String topic, int all);

    /**
     * Checks a part of the stored state, about a hundred messages, and repairs the leftovers of calls that failed half way:
     * messages in no place wait again.
     *
     * @param position {@link Repaired#BEGIN}, then {@link Repaired#next} until {@link Repaired#isLast}
     */
    Repaired repair(ShardKey shard, String position);

    /**
     * Stops claims of the shard; messages in flight go on. True if they were not stopped before; else the first pause stays.
     *
     * @param by who pauses, as statistics show it
     */
    boolean pause(ShardKey shard, String by);

    /** Resumes claims of the shard. True if they were stopped. */
    boolean resume(ShardKey shard);

    /** Time within which a node has to confirm that it has reported an alert; then another node may report it. */
    Duration ALERT_CLAIM = Duration.ofMinutes(2);

    /** Time after which a raised alert is removed, unless a node raises it again. */
    Duration ALERT_EXPIRY = Duration.ofHours(1);

    /**
     * Records for all nodes that a limit is exceeded; each repetition extends the record.
     *
     * @param alert  name of the limit: letters and {@code _}
     * @param report of the change by this node
     * @return true if the caller is to report it; false if another node does, or it was reported
     */
    boolean raise(ShardKey shard, String alert, AlertReport report);

    /**
     * Records for all nodes that a limit is no longer exceeded. The alert counts as raised until a node confirms that it has
     * reported this.
     *
     * @return true if the caller is to report it; false if another node does, or it was reported
     */
    boolean resolve(ShardKey shard, String alert, AlertReport report);

    /**
     * Subscribes to messages that became due earlier than those that were waiting. A hint that may be lost, or come twice:
     * consumers claim once a second unless the subscription {@linkplain Subscription#sinceProof proves} that none was lost. Returns at
     * once, whether the store answers or not, and throws nothing; the subscription is made in the background, and outlives outages.
     *
     * @param listener called on a thread of the store; has to return at once
     */
    Subscription subscribe(Collection<ShardKey> shards, WakeupListener listener);
}
