package io.easykit.delayqueue;

import java.time.Duration;
import java.time.Instant;

/** Counts the messages of topics, lists dead letters, and redrives or purges them. */
public interface DelayQueueAdmin {

    /** Maximum number of messages of a page. */
    int MAX_PAGE = 100;

    /**
     * Counts the messages of a topic.
     *
     * @throws StoreRefusedException if the store refuses all shards
     */
    TopicStats stats(String topic);

    /**
     * Lists one page of dead letters, shard after shard, the oldest of each shard first.
     *
     * <p>A shard that the store refuses to read, for example because a key has another type, is left out:
     * {@link MessagePage#refused} names it and the remedy.
     *
     * @param offset how many to skip
     * @param count  1 to {@link #MAX_PAGE}
     * @throws StoreRefusedException if the store refuses all shards
     */
    MessagePage deadLetters(String topic, long offset, int count);

    /**
     * Sends one back with fresh budgets, due at once.
     *
     * @param diedAt the death that is meant ({@link MessageInfo#diedAt})
     * @return false if it is not dead, or has died again since
     */
    boolean redrive(String topic, String id, Instant diedAt);

    /**
     * Sends back all messages that are dead now with fresh budgets, so many a second, however they are spread over shards.
     * Messages that die again meanwhile are not sent back a second time. Repeat the call after an error: messages that were
     * sent back are no longer dead. If the store refuses a shard, those of the other shards are sent back before the exception.
     *
     * @param perSecond the pace at which they become due, from 1; {@link Integer#MAX_VALUE} for all at once
     * @return how many
     */
    long redriveAll(String topic, int perSecond);

    /**
     * Removes one for good.
     *
     * @param diedAt the death that is meant ({@link MessageInfo#diedAt})
     * @return false if it is not dead, or has died again since
     */
    boolean purge(String topic, String id, Instant diedAt);

    /**
     * Removes for good messages that have been dead for at least this long, and returns how many. If the store refuses a shard,
     * those of the other shards are removed before the exception.
     */
    long purgeOlderThan(String topic, Duration age);
}
