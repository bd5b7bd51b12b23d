package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Whether the shards of a topic take writes, tried once a second at most for all callers. */
final class WriteChecks {

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
     * Tries a write in each shard, up to the first one that fails.
     *
     * @throws RuntimeException the failure
     */
    void require(String topic, int shards) {
        RuntimeException failure = results.compute(
                        topic, (name, last) -> last != null && isFresh(last) ? last : check(name, shards))
                .failure;
        if (failure != null) {
            throw failure;
        }
    }

    private boolean isFresh(Result last) {
        return nanoTime.getAsLong() - last.checkedAt < MAX_AGE;
    }

    private Result check(String topic, int shards) {
        try {
            for (int shard = 0; shard < shards; shard++) {
                write.accept(new ShardKey(topic, shard));
            }
            return new Result(nanoTime.getAsLong(), null);
        } catch (RuntimeException failure) {
            return new Result(nanoTime.getAsLong(), failure);
        }
    }

    private record Result(long checkedAt, @Nullable RuntimeException failure) {}
}
