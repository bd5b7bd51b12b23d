package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.store.QueueInspector;
import io.easykit.delayqueue.store.ShardKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Counts many shards in a bounded time. Shards that did not answer the last time come last, so those of one master that is away
 * do not hide the others. For one thread at a time.
 */
final class ShardSurvey {

    /** On calls without an answer, of all shards together. */
    private static final long LONGEST_WAIT = TimeUnit.SECONDS.toNanos(5);

    private final QueueInspector store;
    private final LongSupplier nanos;

    /** Shards that did not answer, the one that was tried first in front. */
    private final Map<ShardKey, DelayQueueException> silent = new LinkedHashMap<>();

    /** @param nanos a clock that only moves forward */
    ShardSurvey(QueueInspector store, LongSupplier nanos) {
        this.store = store;
        this.nanos = nanos;
    }

    /**
     * The result.
     *
     * @param stats    of the shards that answered
     * @param failures of the others
     * @param waited   nanoseconds without an answer
     */
    record Result(Map<ShardKey, ShardStats> stats, Map<ShardKey, DelayQueueException> failures, long waited) {}

    Result count(List<ShardKey> shards) {
        Set<ShardKey> asked = new HashSet<>(shards);
        silent.keySet().retainAll(asked);
        List<ShardKey> silentLast = new ArrayList<>(shards);
        silentLast.removeAll(silent.keySet());
        silentLast.addAll(silent.keySet());
        Map<ShardKey, ShardStats> stats = new HashMap<>();
        Map<ShardKey, DelayQueueException> failures = new HashMap<>();
        DelayQueueException last = null;
        long waited = 0;
        for (ShardKey shard : silentLast) {
            if (last != null && waited >= LONGEST_WAIT) {
                failures.put(shard, notAsked(shard, last));
                continue;
            }
            long begin = nanos.getAsLong();
            try {
                stats.put(shard, store.stats(shard));
                silent.remove(shard);
            } catch (StoreUnavailableException e) {
                waited += nanos.getAsLong() - begin;
                last = e;
                failures.put(shard, e);
                silent.remove(shard);
                silent.put(shard, e);
            } catch (DelayQueueException e) {
                failures.put(shard, e);
            }
        }
        return new Result(stats, failures, waited);
    }

    private DelayQueueException notAsked(ShardKey shard, DelayQueueException last) {
        DelayQueueException known = silent.get(shard);
        return known == null ? last : known;
    }
}
