package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.store.Beat;
import io.easykit.delayqueue.store.FleetStore;
import io.easykit.delayqueue.store.NodeReport;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/** What processes know of each other, in plain Java, for tests of the engine. */
final class InMemoryFleetStore implements FleetStore {

    private record Node(Instant seenAt, Instant until, NodeReport report, Map<String, Beat.Wish> wishes) {}

    private final LongSupplier micros;
    private final SortedMap<String, Integer> topics = new TreeMap<>();
    private final Map<String, Node> nodes = new LinkedHashMap<>();
    private long lastWish;

    /** @param micros the store's clock, in microseconds since the epoch */
    InMemoryFleetStore(LongSupplier micros) {
        this.micros = micros;
    }

    private Instant now() {
        return Instant.ofEpochMilli(micros.getAsLong() / 1000);
    }

    private void forgetSilentNodes() {
        nodes.values().removeIf(node -> !node.until.isAfter(now()));
    }

    @Override
    public synchronized void addTopics(Map<String, Integer> added) {
        topics.putAll(added);
    }

    @Override
    public synchronized SortedMap<String, Integer> topics() {
        return new TreeMap<>(topics);
    }

    @Override
    public synchronized Beat beat(String name, NodeReport report, Duration expiry) {
        forgetSilentNodes();
        Node before = nodes.get(name);
        Map<String, Beat.Wish> wishes = before == null ? new LinkedHashMap<>() : before.wishes;
        nodes.put(name, new Node(now(), now().plus(expiry), report, wishes));
        return new Beat(now(), nodes.keySet().iterator().next().equals(name), List.copyOf(wishes.values()));
    }

    @Override
    public synchronized void leave(String name) {
        nodes.remove(name);
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
    public synchronized boolean wish(String name, String listener, boolean pause, String by) {
        forgetSilentNodes();
        Node node = nodes.get(name);
        if (node == null) {
            return false;
        }
        lastWish = Math.max(lastWish + 1, micros.getAsLong());
        node.wishes.put(listener, new Beat.Wish(listener, pause, lastWish, by));
        return true;
    }
}
