package io.easykit.console.queue;

import io.easykit.console.EnglishText;
import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.actuate.QueueViews;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.FleetSnapshot;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.TopicSeries.Rates;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.admin.TopicSummary;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Numbers of topics. One reading serves all viewers for two seconds. */
final class TopicOverview {

    private static final Duration AGE = Duration.ofSeconds(2);

    /** Topics whose past is drawn in the overview. */
    private static final int MOST_DRAWN = 50;

    private static final int MOST_KNOWN = 500;

    private final DelayQueueAdmin admin;
    private final FleetAdmin fleet;
    private final TopicHistory history;
    private final LocalListeners listeners;
    private final ShownClock clock;
    private final LongSupplier nanos;
    private final QueueViews views = new QueueViews(Instant::toEpochMilli);
    private volatile Recent<List<NodeInfo>> nodes;
    private final Map<String, Recent<TopicStats>> stats = new ConcurrentHashMap<>();

    /** @param nanos a clock that only moves forward */
    TopicOverview(
            DelayQueueAdmin admin, FleetAdmin fleet, LocalListeners listeners, ShownClock clock, LongSupplier nanos) {
        this.admin = admin;
        this.fleet = fleet;
        this.listeners = listeners;
        this.clock = clock;
        this.nanos = nanos;
        this.history = new TopicHistory(fleet, clock, nanos);
        this.nodes = new Recent<>(fleet::nodes, AGE, nanos);
    }

    /** Forgets readings. The overview of all topics may still be two seconds old. */
    void forget() {
        nodes = new Recent<>(fleet::nodes, AGE, nanos);
        stats.clear();
    }

    Map<String, Object> all() {
        FleetSnapshot snapshot = fleet.snapshot();
        Map<String, Integer> listening = listeningNodes(nodes.get());
        List<Map<String, Object>> rows = new ArrayList<>();
        for (TopicSummary summary : snapshot.topics()) {
            Map<String, @Nullable Object> row = row(summary, listening.getOrDefault(summary.topic(), 0));
            if (rows.size() < MOST_DRAWN) {
                row.put("series", history.waiting(summary.topic()));
            }
            rows.add(row);
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("nodeCount", snapshot.nodes());
        all.put("topics", rows);
        return all;
    }

    private Map<String, @Nullable Object> row(TopicSummary summary, int listeningNodes) {
        Map<String, @Nullable Object> row = views.topic(summary);
        row.put("listeningNodes", listeningNodes);
        ShardStats total = summary.total();
        if (total != null) {
            row.put("alerts", alerts(summary.topic(), total));
        }
        return row;
    }

    /** By topic, counted in one pass: there may be thousands of topics, and hundreds of nodes. */
    private static Map<String, Integer> listeningNodes(List<NodeInfo> nodes) {
        Map<String, Integer> listening = new HashMap<>();
        for (NodeInfo node : nodes) {
            node.listeners().stream()
                    .map(NodeInfo.Listener::topic)
                    .distinct()
                    .forEach(topic -> listening.merge(topic, 1, Integer::sum));
        }
        return listening;
    }

    /** The alerts of a topic, each with its limit and a text. */
    private List<Map<String, @Nullable Object>> alerts(String topic, ShardStats total) {
        return total.alerts().stream()
                .sorted()
                .map(kind -> alert(topic, kind, total))
                .toList();
    }

    private Map<String, @Nullable Object> alert(String topic, Kind kind, ShardStats total) {
        Long limit = listeners.limit(topic, kind);
        Map<String, @Nullable Object> alert = views.alert(kind, total);
        alert.put("limit", QueueViews.alertNumber(kind, limit));
        alert.put("text", new EnglishText(AlertText.of(kind, QueueViews.alertValue(kind, total), limit)));
        return alert;
    }

    /** All that the page of one topic shows. */
    Map<String, Object> whole(String topic, TopicHistory.Range range) {
        TopicStats read = stats(topic);
        List<NodeInfo> known = nodes.get();
        Rates rates = rates(topic);
        Map<String, @Nullable Object> whole = views.topic(read);
        whole.put("alerts", alerts(topic, read.total()));
        whole.put("places", known.stream().mapToInt(node -> node.places(topic)).sum());
        whole.put("listeningNodes", listeningNodes(known).getOrDefault(topic, 0));
        whole.put("rates", rates == null ? null : views.rates(rates));
        whole.put("drainSeconds", drainSeconds(read.due(), rates));
        whole.put("settings", listeners.settings(topic));
        whole.put("series", history.whole(topic, range));
        return whole;
    }

    private TopicStats stats(String topic) {
        if (stats.size() > MOST_KNOWN) {
            stats.clear();
        }
        return stats.computeIfAbsent(topic, name -> new Recent<>(() -> read(name), AGE, nanos))
                .get();
    }

    private TopicStats read(String topic) {
        TopicStats read = admin.stats(topic);
        read.shards().stream().map(ShardStats::now).max(Instant::compareTo).ifPresent(clock::set);
        return read;
    }

    /** The rates of the last minute, which only the overview of all topics has. */
    private @Nullable Rates rates(String topic) {
        return fleet.snapshot().topics().stream()
                .filter(one -> one.topic().equals(topic))
                .findFirst()
                .map(TopicSummary::rates)
                .orElse(null);
    }

    /** Seconds until the messages that are due now are done at the present rate. */
    private static @Nullable Double drainSeconds(long due, @Nullable Rates rates) {
        return due > 0 && rates != null && rates.acknowledged() > 0
                ? (Double) QueueViews.rounded(due / rates.acknowledged())
                : null;
    }
}
