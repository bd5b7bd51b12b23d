package io.easykit.delayqueue.memory;

import io.easykit.delayqueue.admin.FleetSnapshot;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.TopicSeries.Point;
import io.easykit.delayqueue.store.Beat;
import io.easykit.delayqueue.store.FleetStore;
import io.easykit.delayqueue.store.NodeReport;
import io.easykit.delayqueue.store.Samples;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The shared data of the fleet: nodes, topics and samples. */
final class InMemoryFleetStore implements FleetStore {

    private static final Duration REQUESTS_KEPT = Duration.ofHours(1);

    private record Node(Instant seenAt, Instant until, NodeReport report) {}

    private record Requests(Instant until, Map<String, Beat.PauseRequest> ofListeners) {}

    private final LongSupplier micros;
    private final SortedMap<String, Integer> topics = new TreeMap<>();
    private final Map<String, Node> nodes = new LinkedHashMap<>();
    private final Map<String, Requests> requests = new HashMap<>();
    private final Function<ShardKey, ShardStats> stats;
    private final Map<ShardKey, TreeMap<Instant, Point>> samples = new HashMap<>();
    private long lastRequest;
    private Instant takerUntil = Instant.EPOCH;
    private @Nullable FleetSnapshot snapshot;

    /**
     * @param micros the store's clock, in microseconds since the epoch
     * @param stats  counts a shard
     */
    InMemoryFleetStore(LongSupplier micros, Function<ShardKey, ShardStats> stats) {
        this.micros = micros;
        this.stats = stats;
    }

    @Override
    public synchronized boolean sample(ShardKey shard) {
        TreeMap<Instant, Point> of = samples.computeIfAbsent(shard, key -> new TreeMap<>());
        ShardStats now = stats.apply(shard);
        Instant oldest = now.oldestDue();
        Instant minute = now.now().truncatedTo(ChronoUnit.MINUTES);
        return of.putIfAbsent(
                        minute,
                        new Point(
                                minute,
                                now.waiting(),
                                now.due(),
                                now.inFlight(),
                                now.dead(),
                                oldest == null
                                        ? Duration.ZERO
                                        : Duration.between(oldest, now.now()).truncatedTo(ChronoUnit.SECONDS),
                                now.counters().sent(),
                                now.counters().acknowledged(),
                                now.counters().failed(),
                                now.counters().leaseExpirations(),
                                now.counters().dead()))
                == null;
    }

    @Override
    public synchronized Samples samples(ShardKey shard, Duration range) {
        Instant earliest = now().truncatedTo(ChronoUnit.MINUTES).minus(range);
        return new Samples(
                now(),
                List.copyOf(samples.getOrDefault(shard, new TreeMap<>())
                        .tailMap(earliest)
                        .values()));
    }

    private Instant now() {
        return Instant.ofEpochMilli(micros.getAsLong() / 1000);
    }

    private void forgetSilentNodes() {
        requests.values().removeIf(kept -> !kept.until.isAfter(now()));
        nodes.entrySet().removeIf(node -> {
            boolean isSilent = !node.getValue().until.isAfter(now());
            if (isSilent) {
                // It may still run, and come back for them.
                requests.computeIfPresent(node.getKey(), (name, kept) -> keptFromNow(kept.ofListeners));
            }
            return isSilent;
        });
    }

    private Requests keptFromNow(Map<String, Beat.PauseRequest> ofListeners) {
        return new Requests(now().plus(REQUESTS_KEPT), ofListeners);
    }

    /** Keeps topics and nodes. */
    synchronized void clear() {
        samples.clear();
        requests.clear();
        snapshot = null;
        takerUntil = Instant.EPOCH;
    }

    /** As a flush of all keys does. */
    synchronized void lose() {
        topics.clear();
        nodes.clear();
        requests.clear();
    }

    @Override
    public synchronized void addTopics(Map<String, Integer> added, boolean areOld) {
        added.forEach((topic, shards) -> topics.merge(topic, shards, (kept, other) -> areOld ? kept : other));
    }

    @Override
    public synchronized SortedMap<String, Integer> topics() {
        return new TreeMap<>(topics);
    }

    @Override
    public synchronized Beat beat(String name, NodeReport report, Duration expiry) {
        forgetSilentNodes();
        Instant latest = now().plusMillis(Math.max(10 * expiry.toMillis(), 1_800_000));
        nodes.replaceAll((other, node) ->
                node.until.isAfter(latest) ? new Node(node.seenAt, now().plus(expiry), node.report) : node);
        nodes.put(name, new Node(now(), now().plus(expiry), report));
        Requests kept = requests.get(name);
        return new Beat(
                now(),
                nodes.keySet().iterator().next().equals(name),
                kept == null ? List.of() : List.copyOf(kept.ofListeners.values()));
    }

    @Override
    public synchronized void leave(String name) {
        nodes.remove(name);
        requests.remove(name);
    }

    @Override
    public synchronized List<NodeInfo> nodes() {
        forgetSilentNodes();
        List<NodeInfo> all = new ArrayList<>();
        nodes.forEach((name, node) -> all.add(new NodeInfo(
                name,
                node.report.application(),
                node.report.host(),
                node.report.versions(),
                node.seenAt.minus(node.report.uptime()),
                node.seenAt,
                node.report.listeners())));
        return all;
    }

    @Override
    public synchronized SharedSnapshot sharedSnapshot(Duration pause) {
        if (takerUntil.isAfter(now())) {
            return new SharedSnapshot(false, snapshot);
        }
        takerUntil = now().plus(pause);
        return new SharedSnapshot(true, null);
    }

    @Override
    public synchronized void shareSnapshot(FleetSnapshot taken, Duration pause) {
        snapshot = taken;
        takerUntil = now().plus(pause);
    }

    @Override
    public synchronized boolean requestPause(String name, String listener, boolean pause, String by) {
        forgetSilentNodes();
        Requests before = requests.get(name);
        boolean replaces = before != null && before.ofListeners.containsKey(listener);
        if (!nodes.containsKey(name) && !replaces) {
            return false;
        }
        lastRequest = Math.max(lastRequest + 1, micros.getAsLong());
        Requests kept = keptFromNow(before == null ? new LinkedHashMap<>() : before.ofListeners);
        kept.ofListeners.put(listener, new Beat.PauseRequest(listener, pause, lastRequest, by));
        requests.put(name, kept);
        return true;
    }
}
