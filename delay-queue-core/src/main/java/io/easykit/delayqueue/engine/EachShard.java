package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ShardStats;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.TopicStats;
import io.easykit.delayqueue.store.QueueInspector;
import io.easykit.delayqueue.store.ShardKey;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Does the same with each shard of a topic. A shard that the store refuses, because one of its keys is damaged, does not hide
 * the others. An outage of the store ends it at once.
 */
final class EachShard {

    private final List<StoreRefusedException> refusals = new ArrayList<>();
    private int done;

    void attempt(ShardKey shard, Consumer<ShardKey> action) {
        try {
            action.accept(shard);
            done++;
        } catch (StoreRefusedException e) {
            refusals.add(e);
        }
    }

    /** Text of the refusals, for results that contain them. */
    List<String> refused() {
        if (done == 0) {
            throwIfRefused();
        }
        return refusals.stream().map(e -> String.valueOf(e.getMessage())).toList();
    }

    /** For actions whose result cannot show that it is incomplete. */
    void throwIfRefused() {
        if (!refusals.isEmpty()) {
            StoreRefusedException first = refusals.get(0);
            refusals.stream().skip(1).forEach(first::addSuppressed);
            throw first;
        }
    }

    /**
     * The numbers of a topic.
     *
     * @throws StoreRefusedException if the store refuses all shards
     */
    static TopicStats stats(String topic, List<ShardKey> keys, QueueInspector store) {
        EachShard each = new EachShard();
        List<ShardStats> shards = each.count(keys, store);
        return new TopicStats(topic, shards, each.refused());
    }

    /**
     * The numbers of a topic, for sums that are compared with later ones.
     *
     * @throws StoreRefusedException if the store refuses any shard
     */
    static TopicStats completeStats(String topic, List<ShardKey> keys, QueueInspector store) {
        EachShard each = new EachShard();
        List<ShardStats> shards = each.count(keys, store);
        each.throwIfRefused();
        return new TopicStats(topic, shards);
    }

    private List<ShardStats> count(List<ShardKey> keys, QueueInspector store) {
        List<ShardStats> shards = new ArrayList<>();
        keys.forEach(key -> attempt(key, shard -> shards.add(store.stats(shard))));
        return shards;
    }
}
