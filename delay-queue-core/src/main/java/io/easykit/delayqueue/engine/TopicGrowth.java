package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.ShardStats.Pause;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardCount;
import io.easykit.delayqueue.store.ShardKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

    private static final Logger log = LoggerFactory.getLogger(TopicGrowth.class);

    private final QueueBackend store;

    /** Topics whose growth is held back, which is logged once. */
    private final Set<String> limited = ConcurrentHashMap.newKeySet();

    TopicGrowth(QueueBackend store) {
        this.store = store;
    }

    /**
     * Adds the shards that the settings have more. If that fails, it is tried when the count is read again.
     *
     * @return the count that is kept from now on
     */
    ShardCount addConfigured(String topic, ShardCount before, int all) {
        try {
            ShardCount grown = add(topic, before, all);
            if (grown.all() > before.all()) {
                log.warn(
                        "Topic {} had {} shards, and gets {} as the settings say. Own ids and ordering keys stay in the first {}",
                        topic,
                        before.all(),
                        grown.all(),
                        grown.home());
                limited.remove(topic);
                return grown;
            }
        } catch (TopicConflictException noPlaces) {
            if (limited.add(topic)) {
                log.warn("Topic {} keeps its {} shards for now. {}", topic, before.all(), noPlaces.getMessage());
            }
        } catch (StoreUnavailableException | StoreRefusedException e) {
            log.debug("Shards are added to {} later", topic, e);
        }
        return before;
    }

    /**
     * Returns the count that is kept from now on.
     *
     * @param before the count that was kept so far
     * @param all number of shards to have at least
     * @throws TopicConflictException if the maximum in flight of the topic leaves a shard without a place
     */
    ShardCount add(String topic, ShardCount before, int all) {
        if (!before.isKept() || all <= before.all()) {
            return store.grow(topic, all);
        }
        List<ShardKey> added = TopicShards.keys(topic, all).subList(before.all(), all);
        ShardStats first = store.stats(new ShardKey(topic, 0));
        requirePlaces(topic, first, before.all(), all);
        Pause earlier = first.pause();
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

    /**
     * A listener whose limit leaves a shard without a place would not start again. Of the limit, the shares of shards are stored. A
     * shard that was never claimed from, or that the store refuses, has none.
     */
    private void requirePlaces(String topic, ShardStats first, int present, int all) {
        List<ShardStats> shards = new ArrayList<>(List.of(first));
        EachShard each = new EachShard();
        each.attemptAll(TopicShards.keys(topic, present).subList(1, present), shard -> shards.add(store.stats(shard)));
        int[] shares = shards.stream()
                .flatMap(shard -> Stream.ofNullable(shard.flow()))
                .mapToInt(ShardStats.Flow::places)
                .toArray();
        int most = shares.length == present
                ? IntStream.of(shares).sum()
                : present * IntStream.of(shares).max().orElse(0);
        if (most > 0 && most < all) {
            throw new TopicConflictException(
                    "Topic '" + topic + "' has a max-in-flight of at most " + most + ", so some of " + all
                            + " shards could run nothing.",
                    "Give max-in-flight a value of " + all + " or more on all nodes first.");
        }
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
