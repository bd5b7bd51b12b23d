package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayQueueAdmin;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessagePage;
import io.easykit.delayqueue.TopicStats;
import io.easykit.delayqueue.store.DeadLetterRef;
import io.easykit.delayqueue.store.Page;
import io.easykit.delayqueue.store.QueueInspector;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.RedriveRate;
import io.easykit.delayqueue.store.RedrivenPage;
import io.easykit.delayqueue.store.ShardKey;
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

/** Works shard after shard. A shard that the store refuses does not hide the others. */
final class DefaultDelayQueueAdmin implements DelayQueueAdmin {

    /** Redis counts exactly so far. */
    private static final long FARTHEST = 1L << 52;

    private final QueueInspector store;
    private final Topics topics;
    private final LongSupplier nanos;

    /** @param nanos a clock that only moves forward */
    DefaultDelayQueueAdmin(QueueInspector store, Topics topics, LongSupplier nanos) {
        this.store = store;
        this.topics = topics;
        this.nanos = nanos;
    }

    @Override
    public TopicStats stats(String topic) {
        return EachShard.stats(topic, topics.keysToLookAt(topic), store);
    }

    @Override
    public MessagePage deadLetters(String topic, long offset, int count) {
        if (offset < 0 || offset > FARTHEST || count < 1 || count > MAX_PAGE) {
            throw new IllegalArgumentException(
                    "A page of " + count + " after " + offset + " is not possible: give a count" + " of 1 to "
                            + MAX_PAGE + ", and an offset from 0 to " + FARTHEST + ".");
        }
        List<MessageInfo> found = new ArrayList<>();
        AtomicLong total = new AtomicLong();
        EachShard each = new EachShard();
        for (ShardKey shard : topics.keysToLookAt(topic)) {
            each.attempt(shard, one -> {
                long skip = Math.max(0, offset - total.get());
                Page page = store.list(one, MessageInfo.State.DEAD, skip, count);
                page.messages().stream()
                        .limit(count - found.size())
                        .map(message -> MessageInfos.of(topic, message))
                        .forEach(found::add);
                total.addAndGet(page.total());
            });
        }
        return new MessagePage(total.get(), found, each.refused());
    }

    @Override
    public boolean redrive(String topic, String id, Instant diedAt) {
        return store.redrive(shardOf(topic, id), List.of(new DeadLetterRef(id, diedAt)), RedriveRate.AT_ONCE)
                .get(0);
    }

    @Override
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

    @Override
    public boolean purge(String topic, String id, Instant diedAt) {
        return store.purge(shardOf(topic, id), List.of(new DeadLetterRef(id, diedAt)))
                .get(0);
    }

    @Override
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
            RedriveRate pace = new RedriveRate(
                    next.isNegative() ? Duration.ZERO : next,
                    Duration.ofSeconds(1).dividedBy(perSecond));
            RedrivenPage page = store.redrive(shard, diedUntil.get(shard), QueueStore.MAX_BATCH, pace);
            diedUntil.put(shard, page.diedUntil());
            redriven += page.count();
            return page.count() == QueueStore.MAX_BATCH;
        }
    }
}
