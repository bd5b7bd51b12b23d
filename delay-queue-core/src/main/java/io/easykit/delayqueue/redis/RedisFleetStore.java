package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.admin.FleetSnapshot;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.store.Beat;
import io.easykit.delayqueue.store.FleetStore;
import io.easykit.delayqueue.store.NodeReport;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.Samples;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.redis.ListReply;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/** The registry of topics and nodes in Redis. Its keys share one hash tag, so a cluster keeps all of them on one master. */
final class RedisFleetStore implements FleetStore {

    /** Larger fleets are cut; a page more is read than nodes come and go meanwhile. */
    private static final int MOST_PAGES = 20;

    private static final long MINUTE = 60_000;
    private static final long MOST_MINUTES = 24 * 60;
    private static final long MOST_HOURS = 25;

    private final ShardScripts scripts;

    RedisFleetStore(ShardScripts scripts) {
        this.scripts = scripts;
    }

    @Override
    public void addTopics(Map<String, Integer> topics, boolean areOld) {
        List<Map.Entry<String, Integer>> all = List.copyOf(topics.entrySet());
        for (int from = 0; from < all.size(); from += QueueStore.MAX_BATCH) {
            Arguments arguments = new Arguments().add(areOld ? "old" : "new");
            all.subList(from, Math.min(all.size(), from + QueueStore.MAX_BATCH))
                    .forEach(topic -> arguments.add(topic.getKey()).add(topic.getValue()));
            scripts.fleetList(QueueScript.TOPICS, arguments);
        }
    }

    @Override
    public SortedMap<String, Integer> topics() {
        return FleetReplies.topics(scripts.fleetList(QueueScript.TOPICS, new Arguments()));
    }

    @Override
    public Beat beat(String node, NodeReport report, Duration expiry) {
        Arguments arguments =
                new Arguments().add(node).add(NodeReports.encode(report)).add(expiry);
        return FleetReplies.beat(scripts.fleetList(QueueScript.BEAT, arguments));
    }

    @Override
    public void leave(String node) {
        scripts.fleetList(QueueScript.BEAT, new Arguments().add(node).add("").add(0));
    }

    @Override
    public List<NodeInfo> nodes() {
        List<NodeInfo> nodes = new ArrayList<>();
        for (int page = 0; page < MOST_PAGES; page++) {
            Arguments arguments =
                    new Arguments().add((long) page * QueueStore.MAX_BATCH).add(QueueStore.MAX_BATCH);
            ListReply reply = FleetReplies.nodesReply(scripts.fleetList(QueueScript.NODES, arguments));
            FleetReplies.nodes(reply).stream()
                    .filter(node -> nodes.stream().noneMatch(known -> known.id().equals(node.id())))
                    .forEach(nodes::add);
            if (FleetReplies.nodesInAll(reply) <= (page + 1L) * QueueStore.MAX_BATCH) {
                break;
            }
        }
        return nodes;
    }

    @Override
    public boolean requestPause(String node, String listener, boolean pause, String by) {
        Arguments arguments = new Arguments()
                .add(node)
                .add(listener)
                .add(pause ? "pause" : "resume")
                .add(by);
        return scripts.fleetNumber(QueueScript.PAUSE_REQUEST, arguments) == 1;
    }

    @Override
    public SharedSnapshot sharedSnapshot(Duration pause) {
        Arguments arguments = new Arguments().add("look").add(pause);
        return FleetReplies.sharedSnapshot(scripts.fleetList(QueueScript.SHARE, arguments));
    }

    @Override
    public void shareSnapshot(FleetSnapshot snapshot, Duration pause) {
        Arguments arguments = new Arguments().add("put").add(pause).add(NodeReports.encode(snapshot));
        scripts.fleetList(QueueScript.SHARE, arguments);
    }

    @Override
    public boolean sample(ShardKey shard) {
        return scripts.number(QueueScript.SAMPLE, shard, new Arguments()) == 1;
    }

    @Override
    public Samples samples(ShardKey shard, Duration range) {
        long minutes = Math.min(MOST_MINUTES, Math.max(1, range.toMinutes()));
        // A run stands with those of the hour in which it ended.
        long hours = Math.min(MOST_HOURS, minutes / 60 + 2);
        ListReply reply = PackedSamples.reply(scripts.list(QueueScript.SAMPLES, shard, new Arguments().add(hours)));
        Instant now = PackedSamples.now(reply);
        return new Samples(now, PackedSamples.points(reply, now.toEpochMilli() / MINUTE - minutes));
    }
}
