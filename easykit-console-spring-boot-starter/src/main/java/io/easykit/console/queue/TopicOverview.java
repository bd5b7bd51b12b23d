package io.easykit.console.queue;

import io.easykit.console.EnglishText;
import io.easykit.delayqueue.AlertLimits.Kind;
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
    private final StoreClock clock;
    private final LongSupplier nanos;
    private volatile Recent<List<NodeInfo>> nodes;
    private final Map<String, Recent<TopicStats>> stats = new ConcurrentHashMap<>();

    /** @param nanos a clock that only moves forward */
    TopicOverview(
            DelayQueueAdmin admin, FleetAdmin fleet, LocalListeners listeners, StoreClock clock, LongSupplier nanos) {
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
        List<Map<String, Object>> rows = new ArrayList<>();
        for (TopicSummary summary : snapshot.topics()) {
            Map<String, @Nullable Object> row = row(summary, nodes.get());
            if (rows.size() < MOST_DRAWN) {
                row.put("series", history.waiting(summary.topic()));
            }
            rows.add(row);
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("nodes", snapshot.nodes());
        all.put("topics", rows);
        return all;
    }

    private Map<String, @Nullable Object> row(TopicSummary summary, List<NodeInfo> nodes) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        row.put("topic", summary.topic());
        row.put("shards", summary.shards());
        row.put("places", summary.places());
        row.put("consumers", consumers(summary.topic(), nodes));
        String failure = summary.failure();
        row.put("refused", failure == null ? List.of() : List.of(failure));
        ShardStats total = summary.total();
        if (total != null) {
            row.put("alerts", alerts(summary.topic(), total));
            numbers(row, total, summary.pausedShards(), total.imbalance());
            rates(row, summary.rates());
            row.put("limits", limits(total.flow(), total.limited(), total.limited() ? total.due() : 0));
        }
        return row;
    }

    private static long consumers(String topic, List<NodeInfo> nodes) {
        return nodes.stream()
                .filter(node -> node.listeners().stream()
                        .anyMatch(listener -> listener.topic().equals(topic)))
                .count();
    }

    private static void numbers(Map<String, @Nullable Object> row, ShardStats total, int pausedShards, long imbalance) {
        row.put("pausedShards", pausedShards);
        row.put("paused", pause(total.pause()));
        row.put("waiting", total.waiting());
        row.put("due", total.due());
        row.put("parked", total.parked());
        row.put("stoppedKeys", total.stoppedKeys());
        row.put("inFlight", total.inFlight());
        row.put("dead", total.dead());
        Instant oldest = total.oldestDue();
        row.put("oldestDue", oldest == null ? null : oldest.toEpochMilli());
        row.put("imbalance", imbalance);
        ShardStats.Counters counters = total.counters();
        row.put(
                "counters",
                Map.of(
                        "sent", counters.sent(),
                        "acknowledged", counters.acknowledged(),
                        "failed", counters.failed(),
                        "lost", counters.leaseExpirations(),
                        "dead", counters.dead(),
                        "cancelled", counters.cancelled(),
                        "redriven", counters.redriven(),
                        "purged", counters.purged()));
    }

    /** The limits of the topic, and how many messages wait because of them. Null if no listener has used any for an hour. */
    private static @Nullable Map<String, @Nullable Object> limits(
            ShardStats.@Nullable Flow flow, boolean limited, long held) {
        if (flow == null) {
            return null;
        }
        Map<String, @Nullable Object> limits = new LinkedHashMap<>();
        boolean hasRate = flow.perSecond() > 0;
        limits.put("perSecond", hasRate ? flow.perSecond() : null);
        limits.put("burst", hasRate ? flow.burst() : null);
        limits.put("permits", hasRate ? flow.permits() : null);
        limits.put("maxInFlight", flow.places() > 0 ? flow.places() : null);
        limits.put("limited", limited);
        limits.put("held", held);
        return limits;
    }

    private static void rates(Map<String, @Nullable Object> row, @Nullable Rates rates) {
        row.put("sentRate", rates == null ? null : TopicHistory.rounded(rates.sent()));
        row.put("doneRate", rates == null ? null : TopicHistory.rounded(rates.acknowledged()));
        row.put("failedRate", rates == null ? null : TopicHistory.rounded(rates.failed()));
        row.put("lostRate", rates == null ? null : TopicHistory.rounded(rates.leaseExpirations()));
        row.put("diedRate", rates == null ? null : TopicHistory.rounded(rates.died()));
    }

    private List<Map<String, @Nullable Object>> alerts(String topic, ShardStats total) {
        return total.alerts().stream()
                .sorted()
                .map(kind -> {
                    Map<String, @Nullable Object> alert = new LinkedHashMap<>();
                    Long value = value(kind, total);
                    Long limit = listeners.limit(topic, kind);
                    alert.put("kind", kind.name());
                    alert.put("value", value);
                    alert.put("limit", limit);
                    alert.put("text", new EnglishText(AlertText.of(kind, value, limit)));
                    return alert;
                })
                .toList();
    }

    private static @Nullable Long value(Kind kind, ShardStats total) {
        Instant oldest = total.oldestDue();
        return switch (kind) {
            case LATENESS ->
                oldest == null ? null : Duration.between(oldest, total.now()).toMillis();
            case DUE -> total.due();
            case DEAD -> total.dead();
            case WAITING -> total.waiting();
            case NO_CONSUMER, FAILING -> null;
        };
    }

    /** All that the page of one topic shows. */
    Map<String, Object> whole(String topic, TopicHistory.Range range) {
        TopicStats read = stats(topic);
        Map<String, @Nullable Object> whole = new LinkedHashMap<>();
        TopicSummary summary = fleet.snapshot().topics().stream()
                .filter(one -> one.topic().equals(topic))
                .findFirst()
                .orElse(null);
        if (summary != null) {
            whole.putAll(row(summary, nodes.get()));
        }
        ShardStats total = read.total();
        whole.put("topic", topic);
        whole.put("shards", read.shards().size() + read.refused().size());
        whole.put("refused", read.refused());
        whole.put("alerts", alerts(topic, total));
        numbers(whole, total, read.pausedShards(), read.imbalance());
        whole.put("limits", limits(read.flow(), read.limited(), read.heldByLimits()));
        whole.put("drain", drain(total.due(), whole.get("doneRate")));
        whole.put("shardList", shards(read));
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

    /** Milliseconds until the messages that are due now are done at the present rate. */
    private static @Nullable Long drain(long due, @Nullable Object doneRate) {
        return due > 0 && doneRate instanceof Double rate && rate > 0 ? Math.round(due / rate * 1000) : null;
    }

    private static List<Map<String, Object>> shards(TopicStats stats) {
        List<Map<String, Object>> shards = new ArrayList<>();
        stats.byNumber()
                .forEach((number, shard) -> shards.add(Map.of(
                        "shard", number,
                        "waiting", shard.waiting(),
                        "due", shard.due(),
                        "parked", shard.parked(),
                        "inFlight", shard.inFlight(),
                        "dead", shard.dead(),
                        "paused", shard.paused(),
                        "imbalance", shard.imbalance())));
        return shards;
    }

    private static @Nullable Map<String, @Nullable Object> pause(ShardStats.@Nullable Pause pause) {
        if (pause == null) {
            return null;
        }
        Map<String, @Nullable Object> shown = new LinkedHashMap<>();
        shown.put("by", pause.by());
        Instant at = pause.at();
        shown.put("at", at == null ? null : at.toEpochMilli());
        return shown;
    }
}
