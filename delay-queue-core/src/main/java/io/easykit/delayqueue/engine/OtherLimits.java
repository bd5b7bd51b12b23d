package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.store.FlowShare;
import io.easykit.delayqueue.store.QueueInspector;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports limits of a topic that another node uses, and this one does not. Each node applies its own, and leaves its share of them in
 * each shard from which it claims messages. A shard without claims has none, so all shards are read. A share stays for an hour, so one
 * of a rate counts only if it was used after the first look of this node.
 */
final class OtherLimits {

    private static final Logger log = LoggerFactory.getLogger(OtherLimits.class);

    private final ListenerEndpoint endpoint;
    private final QueueInspector store;

    private final List<FlowShare> reported = new ArrayList<>();
    private final Map<ShardKey, Instant> firstLooks = new HashMap<>();

    OtherLimits(ListenerEndpoint endpoint, QueueInspector store) {
        this.endpoint = endpoint;
        this.store = store;
    }

    /** Logs one line for limits that are seen for the first time, in however many shards. */
    void look(List<ShardKey> shards, EachShard each) {
        each.attemptAll(shards, shard -> {
            ShardStats stats = store.stats(shard);
            ShardStats.Flow used = stats.flow();
            Instant first = firstLooks.computeIfAbsent(shard, key -> stats.now());
            if (used != null && isInUse(used, first)) {
                compare(used, FlowShare.of(endpoint.limits(), shard.shard(), shards.size()), shards.size());
            }
        });
    }

    private static boolean isInUse(ShardStats.Flow used, Instant firstLook) {
        Instant usedAt = used.usedAt();
        return usedAt == null || usedAt.isAfter(firstLook);
    }

    private void compare(ShardStats.Flow used, FlowShare own, int shards) {
        FlowShare share = FlowShare.of(used);
        if (!share.equals(own) && reported.stream().noneMatch(other -> areOfOneTopic(share, other))) {
            reported.add(share);
            report(used, shards);
        }
    }

    /** Shares of one limit differ by one where there is a rest. */
    private static boolean areOfOneTopic(FlowShare one, FlowShare other) {
        return one.stepMicros() == other.stepMicros()
                && Math.abs(one.burst() - other.burst()) <= 1
                && Math.abs(one.places() - other.places()) <= 1;
    }

    private void report(ShardStats.Flow used, int shards) {
        if (endpoint.limits().isNone()) {
            log.warn(
                    "Topic {} has no limits on this node, and another node uses some (about {} a second, burst {}, {} in"
                            + " flight). This node takes all messages that it can, so the topic may run without a limit."
                            + " Give all nodes the same.",
                    endpoint.topic(),
                    used.perSecond() * shards,
                    used.burst() * shards,
                    used.places() * shards);
            return;
        }
        log.warn(
                "Topic {} has limits of {} on this node, and another node uses others (about {} a second, burst {}, {} in"
                        + " flight). Each node applies its own, so the topic may run as fast as the larger ones allow."
                        + " Give all nodes the same.",
                endpoint.topic(),
                endpoint.limits(),
                used.perSecond() * shards,
                used.burst() * shards,
                used.places() * shards);
    }
}
