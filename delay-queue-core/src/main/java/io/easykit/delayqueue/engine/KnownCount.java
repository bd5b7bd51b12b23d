package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.ShardCount;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A shard count that the store has kept, as this node has read it. All times are those of a clock that only moves forward.
 *
 * @param count   the count
 * @param open    number of shards that messages are sent to until the others are opened
 * @param opensAt when the others are opened
 * @param readAt  when it was read, or when a reading failed
 * @param triedAt when it was read, or when the last reading after a minute began
 */
record KnownCount(ShardCount count, int open, long opensAt, long readAt, long triedAt) {

    /** Time after a growth until messages are sent to the new shards: twice what listeners need to learn of them. */
    static final Duration OPENING = Duration.ofMinutes(2);

    /** @param before what this node knew so far: shards that it has opened stay open */
    static KnownCount of(ShardCount kept, @Nullable KnownCount before, long now) {
        int open = kept.home();
        if (before != null && before.count.home() == kept.home()) {
            if (before.count.all() == kept.all()) {
                return before.endedAt(now).triedAt(now);
            }
            open = Math.min(before.open(now), kept.all());
        }
        long untilOpen = OPENING.minus(kept.grownFor()).toNanos();
        return new KnownCount(kept, open, now + (kept.isGrown() ? untilOpen : 0), now, now);
    }

    KnownCount endedAt(long now) {
        return new KnownCount(count, open, opensAt, now, triedAt);
    }

    KnownCount triedAt(long now) {
        return new KnownCount(count, open, opensAt, readAt, now);
    }

    /** Whether this node knows of shards that were added to these, and that the store has lost. */
    boolean hasMoreThan(ShardCount kept) {
        return count.home() == kept.home() && count.all() > kept.all();
    }

    boolean hasCountOf(@Nullable KnownCount other) {
        return other != null && other.count.all() == count.all();
    }

    private int open(long now) {
        return now - opensAt >= 0 ? count.all() : open;
    }

    TopicShards shards(String topic, long now) {
        return new TopicShards(topic, count.home(), open(now), count.all());
    }
}
