package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.FleetSnapshot;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.admin.TopicSeries;
import io.easykit.delayqueue.admin.UnknownTopicException;
import io.easykit.delayqueue.store.FleetStore;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.DurationText;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Administers topics, nodes and pauses, shard after shard. A shard that the store refuses, or that does not answer, does not keep
 * the others from their pause.
 */
final class DefaultFleetAdmin implements FleetAdmin {

    private static final int MOST_CHARACTERS = 200;
    private static final Duration SHORTEST_RANGE = Duration.ofMinutes(1);
    private static final Duration LONGEST_RANGE = Duration.ofHours(24);

    private final QueueBackend store;
    private final Topics topics;
    private final String node;
    private final LongSupplier nanos;
    private final Snapshots snapshots;

    /**
     * @param node  name of this node
     * @param nanos a clock that only moves forward
     */
    DefaultFleetAdmin(QueueBackend store, Topics topics, String node, LongSupplier nanos) {
        this.store = store;
        this.topics = topics;
        this.node = node;
        this.nanos = nanos;
        this.snapshots = new Snapshots(store, nanos);
    }

    @Override
    public FleetSnapshot snapshot() {
        return snapshots.get();
    }

    @Override
    public List<String> topics() {
        return List.copyOf(store.fleet().topics().keySet());
    }

    @Override
    public void requireUsed(String topic) {
        // A queue that is disabled keeps no topics.
        boolean isEnabled = store.fleet() != FleetStore.NONE;
        if (isEnabled && !topics.isUsed(topic) && !topics().contains(topic)) {
            throw new UnknownTopicException(topic, topics());
        }
    }

    @Override
    public String thisNode() {
        return node;
    }

    @Override
    public List<NodeInfo> nodes() {
        return store.fleet().nodes();
    }

    @Override
    public TopicSeries series(String topic, Duration range) {
        if (range.compareTo(SHORTEST_RANGE) < 0 || range.compareTo(LONGEST_RANGE) > 0) {
            throw new IllegalArgumentException(
                    "A range of " + DurationText.of(range) + " is not kept: give a minute to 24 hours.");
        }
        TopicShards shards = topics.shardsToLookAt(topic);
        return Sampler.series(topic, shards.home(), shards.keys(), range, store);
    }

    @Override
    public int pause(String topic, String by) {
        String name = requireName(by);
        return changed(topic, shard -> store.pause(shard, name));
    }

    @Override
    public int resume(String topic) {
        return changed(topic, store::resume);
    }

    private int changed(String topic, Predicate<ShardKey> change) {
        AtomicInteger changed = new AtomicInteger();
        EachShard each = EachShard.despiteOutages(nanos);
        int done = 0;
        List<ShardKey> shards = topics.presentKeys(topic);
        while (shards.size() > done) {
            shards.subList(done, shards.size())
                    .forEach(key -> each.attempt(key, shard -> {
                        if (isChanged(shard, change, each)) {
                            changed.incrementAndGet();
                            each.changed();
                        }
                    }));
            done = shards.size();
            shards = topics.presentKeys(topic); // somebody may have added shards meanwhile, see TopicGrowth
        }
        each.throwIfRefused();
        return changed.get();
    }

    private static boolean isChanged(ShardKey shard, Predicate<ShardKey> change, EachShard each) {
        try {
            return change.test(shard);
        } catch (StoreUnavailableException e) {
            if (e.isOutcomeUnknown()) {
                each.changed();
            }
            throw e;
        }
    }

    @Override
    public boolean pauseListener(String node, String listener, String by) {
        return store.fleet().requestPause(node, listener, true, requireName(by));
    }

    @Override
    public boolean resumeListener(String node, String listener, String by) {
        return store.fleet().requestPause(node, listener, false, requireName(by));
    }

    private static String requireName(String by) {
        Objects.requireNonNull(by, "A pause by nobody: give the name of the operator, or an empty text.");
        if (by.length() > MOST_CHARACTERS) {
            throw new IllegalArgumentException("The name of the operator has " + by.length()
                    + " characters: give at most " + MOST_CHARACTERS + ".");
        }
        return by;
    }
}
