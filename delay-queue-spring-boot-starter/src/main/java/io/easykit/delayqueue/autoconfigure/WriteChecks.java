package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether the shards of a topic take writes, tried once a second at most for all callers. A check writes to a few shards, and
 * the next one continues behind them, so each master of a cluster is tried soon. A shard that failed is tried again first.
 */
final class WriteChecks {

    static final int MOST_SHARDS = 4;

    private static final long MAX_AGE = Duration.ofSeconds(1).toNanos();

    private final Consumer<ShardKey> write;
    private final LongSupplier nanoTime;
    private final Map<String, Result> results = new ConcurrentHashMap<>();

    /**
     * @param write a small write in a shard
     * @param nanoTime a clock that only goes forward
     */
    WriteChecks(Consumer<ShardKey> write, LongSupplier nanoTime) {
        this.write = write;
        this.nanoTime = nanoTime;
    }

    /**
     * Tries writes, up to the first one that fails.
     *
     * @param shards number of shards of the topic
     * @throws RuntimeException the failure
     */
    void require(String topic, int shards) {
        RuntimeException failure = results.compute(
                        topic, (name, last) -> last != null && isFresh(last) ? last : check(name, shards, last))
                .failure;
        if (failure != null) {
            throw failure;
        }
    }

    private boolean isFresh(Result last) {
        return nanoTime.getAsLong() - last.checkedAt < MAX_AGE;
    }

    private Result check(String topic, int shards, @Nullable Result last) {
        int next = last == null ? 0 : last.next;
        try {
            for (int i = 0; i < Math.min(MOST_SHARDS, shards); i++) {
                next %= shards;
                write.accept(new ShardKey(topic, next));
                next++;
            }
            return new Result(nanoTime.getAsLong(), next, null);
        } catch (RuntimeException failure) {
            return new Result(nanoTime.getAsLong(), next, failure);
        }
    }

    /** @param next shard to begin with the next time */
    private record Result(long checkedAt, int next, @Nullable RuntimeException failure) {}
}
