package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.ShardStats.Pause;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardCount;
import io.easykit.delayqueue.store.ShardKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Adds shards to a topic, paused if the topic is.
 *
 * <p>A pause is kept in each shard, and claims look at the pause of their own shard only. So the new shards get the state of
 * shard 0 before they are declared: no consumer meets them without the pause. What an earlier growth that stopped half way has
 * left there does not count.
 *
 * <p>Somebody may pause or resume the topic at the same time, and know the old count. So each side looks again when it is done:
 * the growth at shard 0, and the other one at the count ({@link DefaultFleetAdmin}). The last one to look sees what the other
 * has done. A failure of that last look has an unknown outcome, because the growth was made.
 */
final class TopicGrowth {

    private final QueueBackend store;

    TopicGrowth(QueueBackend store) {
        this.store = store;
    }

    /**
     * Returns the count that is kept from now on.
     *
     * @param before the count that was kept so far
     * @param all number of shards to have at least
     */
    ShardCount add(String topic, ShardCount before, int all) {
        if (!before.isKept() || all <= before.all()) {
            return store.grow(topic, all);
        }
        List<ShardKey> added = TopicShards.keys(topic, all).subList(before.all(), all);
        Pause earlier = pause(topic);
        set(added, earlier);
        ShardCount kept = store.grow(topic, all);
        try {
            Pause later = pause(topic);
            if ((earlier == null) != (later == null)) {
                set(added, later);
            }
        } catch (StoreUnavailableException | StoreRefusedException e) {
            throw EachShard.inPart(e);
        }
        return kept;
    }

    private @Nullable Pause pause(String topic) {
        return store.stats(new ShardKey(topic, 0)).pause();
    }

    private void set(List<ShardKey> shards, @Nullable Pause pause) {
        for (ShardKey shard : shards) {
            if (pause == null) {
                store.resume(shard);
            } else {
                store.pause(shard, pause.by());
            }
        }
    }
}
