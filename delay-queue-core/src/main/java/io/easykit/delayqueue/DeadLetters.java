package io.easykit.delayqueue;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Looks into the dead letters of topics, sends them back, and removes them. */
public final class DeadLetters {

    /** Redis counts exactly so far. */
    private static final long FARTHEST = 1L << 52;

    private final QueueStore store;
    private final Topics topics;
    private final LongSupplier nanos;

    /** @param nanos a clock that only moves forward */
    DeadLetters(QueueStore store, Topics topics, LongSupplier nanos) {
        this.store = store;
        this.topics = topics;
        this.nanos = nanos;
    }

    /**
     * One page, shard after shard, the oldest of each shard first.
     *
     * <p>A shard that the store refuses to read, for example because a key has another type, is left out:
     * {@link QueueStore.Page#refused} names it and the remedy.
     *
     * @param offset how many to skip
     * @param count  1 to {@link QueueStore#MAX_BATCH}
     * @throws StoreRefusedException if the store refuses all shards
     */
    public QueueStore.Page page(String topic, long offset, int count) {
        if (offset < 0 || offset > FARTHEST || count < 1 || count > QueueStore.MAX_BATCH) {
            throw new IllegalArgumentException(
                    "A page of " + count + " after " + offset + " is not possible: give a count" + " of 1 to "
                            + QueueStore.MAX_BATCH + ", and an offset from 0 to " + FARTHEST + ".");
        }
        List<StoredMessage> found = new ArrayList<>();
        AtomicLong total = new AtomicLong();
        EachShard each = new EachShard();
        for (ShardKey shard : topics.keysToLookAt(topic)) {
            each.attempt(shard, one -> {
                long skip = Math.max(0, offset - total.get());
                QueueStore.Page page = store.list(one, StoredMessage.Place.DEAD, skip, count);
                page.messages().stream().limit(count - found.size()).forEach(found::add);
                total.addAndGet(page.total());
            });
        }
        return new QueueStore.Page(total.get(), found, each.refused());
    }

    /**
     * Sends one back with fresh budgets, due at once.
     *
     * @param diedAt the death that is meant ({@link StoredMessage#at})
     * @return false if it is not dead, or has died again since
     */
    public boolean redrive(String topic, String id, Instant diedAt) {
        return store.redrive(shardOf(topic, id), List.of(new QueueStore.Death(id, diedAt)), QueueStore.Pace.AT_ONCE)
                .get(0);
    }

    /**
     * Sends back all messages that are dead now with fresh budgets, so many a second, however they are spread over shards.
     * Messages that die again meanwhile are not sent back a second time. Repeat the call after an error: messages that were
     * sent back are no longer dead. If the store refuses a shard, those of the other shards are sent back before the exception.
     *
     * @param perSecond the pace at which they become due, from 1; {@link Integer#MAX_VALUE} for all at once
     * @return how many
     */
    public long redriveAll(String topic, int perSecond) {
        if (perSecond < 1) {
            throw new IllegalArgumentException("A pace of " + perSecond + " a second: give at least 1.");
        }
        Redrive redrive = new Redrive(perSecond);
        Deque<ShardKey> left = new ArrayDeque<>(topics.keysToLookAt(topic));
        EachShard each = new EachShard();
        while (!left.isEmpty()) {
            each.attempt(left.remove(), shard -> {
                if (redrive.page(shard)) {
                    left.add(shard);
                }
            });
        }
        each.throwIfRefused();
        return redrive.redriven;
    }

    /**
     * Removes one for good.
     *
     * @param diedAt the death that is meant ({@link StoredMessage#at})
     * @return false if it is not dead, or has died again since
     */
    public boolean purge(String topic, String id, Instant diedAt) {
        return store.purge(shardOf(topic, id), List.of(new QueueStore.Death(id, diedAt)))
                .get(0);
    }

    /**
     * Removes for good messages that have been dead for at least this long, and returns how many. If the store refuses a shard,
     * those of the other shards are removed before the exception.
     */
    public long purgeOlderThan(String topic, Duration age) {
        Objects.requireNonNull(age, "purgeOlderThan without an age: give one, Duration.ZERO for all dead letters.");
        AtomicLong purged = new AtomicLong();
        EachShard each = new EachShard();
        for (ShardKey key : topics.keysToLookAt(topic)) {
            each.attempt(key, shard -> {
                int some;
                do {
                    some = store.purge(shard, age, QueueStore.MAX_BATCH);
                    purged.addAndGet(some);
                } while (some == QueueStore.MAX_BATCH);
            });
        }
        each.throwIfRefused();
        return purged.get();
    }

    private ShardKey shardOf(String topic, String id) {
        return new ShardKey(topic, MessageIds.shardOf(id, topics.shardsToLookAt(topic)));
    }

    /** Pages of all shards in turn; the slots of one schedule are given out page by page. */
    private final class Redrive {

        private final Map<ShardKey, Instant> diedUntil = new HashMap<>();
        private final int perSecond;
        private final long begin = nanos.getAsLong();
        private long redriven;

        Redrive(int perSecond) {
            this.perSecond = perSecond;
        }

        /** Sends back one page; false if it was the shard's last. */
        boolean page(ShardKey shard) {
            // The store counts the delay from the call.
            Duration passed = Duration.ofNanos(nanos.getAsLong() - begin);
            Duration next = Duration.ofSeconds(redriven).dividedBy(perSecond).minus(passed);
            QueueStore.Pace pace = new QueueStore.Pace(
                    next.isNegative() ? Duration.ZERO : next,
                    Duration.ofSeconds(1).dividedBy(perSecond));
            QueueStore.RedrivenPage page = store.redrive(shard, diedUntil.get(shard), QueueStore.MAX_BATCH, pace);
            diedUntil.put(shard, page.diedUntil());
            redriven += page.count();
            return page.count() == QueueStore.MAX_BATCH;
        }
    }
}
