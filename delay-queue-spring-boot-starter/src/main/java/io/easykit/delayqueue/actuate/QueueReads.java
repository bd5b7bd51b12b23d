package io.easykit.delayqueue.actuate;

import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.ErrorGroups;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.FleetSnapshot;
import io.easykit.delayqueue.admin.Job;
import io.easykit.delayqueue.admin.MessageDetail;
import io.easykit.delayqueue.admin.MessagePage;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.admin.TopicSummary;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.LogText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The reads of the endpoint: what {@link DelayQueueAdmin} and {@link FleetAdmin} return, as JSON. */
final class QueueReads {

    private static final String VIEWS = "topics, topic, messages, message, groups, stopped-keys, nodes or jobs";

    private final DelayQueueAdmin admin;
    private final FleetAdmin fleet;
    private final MessageViews messages;

    QueueReads(DelayQueueAdmin admin, FleetAdmin fleet, MessageViews messages) {
        this.admin = admin;
        this.fleet = fleet;
        this.messages = messages;
    }

    Map<String, Object> overview() {
        FleetSnapshot snapshot = fleet.snapshot();
        return new Row()
                .with("now", snapshot.now())
                .with("nodes", snapshot.nodes())
                .with(
                        "topics",
                        snapshot.topics().stream()
                                .map(topic -> summary(topic, snapshot.now()))
                                .toList())
                .values();
    }

    /** @param shown whether the caller may see bodies and header values */
    Object view(String name, Fields fields, boolean shown) {
        return switch (name) {
            case "topics" -> fleet.topics();
            case "topic" -> topic(used(fields));
            case "messages" -> page(fields, shown);
            case "message" -> message(fields, shown);
            case "groups" -> groups(used(fields));
            case "stopped-keys" -> stoppedKeys(used(fields));
            case "nodes" -> fleet.nodes().stream().map(QueueReads::node).toList();
            case "jobs" -> admin.jobs().stream().map(QueueReads::job).toList();
            default ->
                throw new Refusal(
                        404, "There is no view '" + LogText.of(name) + "'.", "Use one of " + VIEWS + ", or none.");
        };
    }

    /** An empty reply would hide a mistyped name. */
    private String used(Fields fields) {
        String topic = new ShardKey(fields.topic(), 0).topic();
        fleet.requireUsed(topic);
        return topic;
    }

    private static Map<String, Object> summary(TopicSummary topic, Instant now) {
        Row row = new Row().with("topic", topic.topic());
        ShardStats total = topic.total();
        if (total != null) {
            numbers(row, total, now);
            row.with("limits", limits(total.flow()));
            row.with("limited", total.flow() == null ? null : total.limited());
        }
        return row.with("shards", topic.shards())
                .with("pausedShards", topic.pausedShards())
                .with("places", topic.places())
                .with("perSecond", topic.rates())
                .with("failure", topic.failure())
                .values();
    }

    private static void numbers(Row row, ShardStats numbers, Instant now) {
        row.with("waiting", numbers.waiting())
                .with("due", numbers.due())
                .with("inFlight", numbers.inFlight())
                .with("dead", numbers.dead());
        Instant oldest = numbers.oldestDue();
        if (oldest != null) {
            row.with("oldestDue", oldest)
                    .with("lateSeconds", Duration.between(oldest, now).toSeconds());
        }
        row.with(
                "alerts",
                numbers.alerts().stream().map(QueueReads::lower).sorted().toList());
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private Map<String, Object> topic(String topic) {
        TopicStats stats = admin.stats(topic);
        Row row = new Row()
                .with("topic", topic)
                .with("waiting", stats.waiting())
                .with("due", stats.due())
                .with("inFlight", stats.inFlight())
                .with("dead", stats.dead())
                .with("parked", stats.parked())
                .with("stoppedKeys", stats.stoppedKeys())
                .with("limits", limits(stats.flow()))
                .with("limited", stats.limited())
                .with("heldByLimits", stats.flow() == null ? null : stats.heldByLimits())
                .with("oldestDue", stats.oldestDue())
                .with("lateSeconds", stats.oldestDueAge().toSeconds())
                .with("imbalance", stats.imbalance())
                .with(
                        "alerts",
                        stats.alerts().stream().map(QueueReads::lower).sorted().toList())
                .with("pause", pause(stats.pause()))
                .with("pausedShards", stats.pausedShards())
                .with(
                        "places",
                        fleet.nodes().stream()
                                .mapToInt(node -> node.places(topic))
                                .sum())
                .with("counters", stats.counters());
        List<Map<String, Object>> shards = new ArrayList<>();
        stats.byNumber().forEach((number, shard) -> {
            Row one = new Row().with("shard", number).with("pause", pause(shard.pause()));
            numbers(one, shard, shard.now());
            shards.add(one.values());
        });
        return row.with("shards", shards)
                .with("refused", stats.refused().isEmpty() ? null : stats.refused())
                .values();
    }

    private static @Nullable Map<String, Object> limits(ShardStats.@Nullable Flow flow) {
        return flow == null
                ? null
                : new Row()
                        .with("perSecond", flow.perSecond() == 0 ? null : flow.perSecond())
                        .with("burst", flow.burst() == 0 ? null : flow.burst())
                        .with("permits", flow.burst() == 0 ? null : flow.permits())
                        .with("maxInFlight", flow.places() == 0 ? null : flow.places())
                        .values();
    }

    private static @Nullable Map<String, Object> pause(ShardStats.@Nullable Pause pause) {
        return pause == null
                ? null
                : new Row().with("by", pause.by()).with("at", pause.at()).values();
    }

    private Map<String, Object> page(Fields fields, boolean shown) {
        MessageQuery query = MessageQuery.of(state(fields.text("state")))
                .size(fields.number("size", MessageQuery.DEFAULT_SIZE, 1, DelayQueueAdmin.MAX_PAGE))
                .after(fields.text("after"));
        String order = fields.text("order");
        if ("newest".equals(order)) {
            query = query.newestFirst();
        } else if (order != null && !order.equals("oldest")) {
            throw Fields.unusable("order", order, "Give oldest, the default, or newest.");
        }
        if (fields.text("shard") != null) {
            query = query.shard(fields.number("shard", 0, 0, ShardKey.MAX_SHARDS - 1));
        }
        MessagePage page = admin.messages(fields.topic(), query);
        fleet.requireUsed(fields.topic());
        return new Row()
                .with("total", page.total())
                .with("rank", page.rank())
                .with("shard", page.shard())
                .with(
                        "messages",
                        page.messages().stream()
                                .map(message -> messages.summary(message, shown))
                                .toList())
                .with("next", page.next())
                .with("refused", page.refused().isEmpty() ? null : page.refused())
                .values();
    }

    private static State state(@Nullable String name) {
        if (name == null) {
            return State.DEAD;
        }
        for (State state : State.values()) {
            if (MessageViews.state(state).equals(name)) {
                return state;
            }
        }
        throw Fields.unusable("state", name, "Give dead, the default, waiting or in-flight.");
    }

    private Object message(Fields fields, boolean shown) {
        String id = fields.required("id", "close-918; the path messages lists them");
        String topic = fields.text("topic");
        List<MessageDetail> found = topic == null
                ? admin.find(id)
                : admin.find(topic, id).map(List::of).orElse(List.of());
        if (found.isEmpty()) {
            throw QueueWrites.gone(id);
        }
        List<Map<String, Object>> all =
                found.stream().map(message -> messages.detail(message, shown)).toList();
        return topic == null ? all : all.get(0);
    }

    private Map<String, Object> groups(String topic) {
        ErrorGroups groups = admin.groups(topic);
        return new Row()
                .with("total", groups.total())
                .with("scanned", groups.scanned())
                .with("groups", groups.groups().stream().map(QueueReads::group).toList())
                .with("refused", groups.refused().isEmpty() ? null : groups.refused())
                .values();
    }

    private List<Map<String, Object>> stoppedKeys(String topic) {
        return admin.stoppedKeys(topic).stream()
                .map(key -> new Row()
                        .with("key", key.key())
                        .with("id", key.id())
                        .with("diedAt", key.diedAt())
                        .with("parked", key.parked())
                        .values())
                .toList();
    }

    private static Map<String, Object> group(ErrorGroups.Count count) {
        return new Row()
                .with("group", count.group().key())
                .with("count", count.count())
                .with("type", count.group().type())
                .with("message", count.group().message())
                .with("frame", count.group().frame())
                .with("first", count.first())
                .with("last", count.last())
                .with("sample", count.sample().id())
                .values();
    }

    private static Map<String, Object> node(NodeInfo node) {
        return new Row()
                .with("node", node.id())
                .with("application", node.application())
                .with("host", node.host())
                .with("versions", node.versions())
                .with("startedAt", node.startedAt())
                .with("seenAt", node.seenAt())
                .with(
                        "listeners",
                        node.listeners().stream().map(QueueReads::listener).toList())
                .values();
    }

    private static Map<String, Object> listener(NodeInfo.Listener listener) {
        NodeInfo.Pause pause = listener.pause();
        return new Row()
                .with("listener", listener.id())
                .with("topic", listener.topic())
                .with("busy", listener.busy())
                .with("places", listener.places())
                .with("oldestRunSeconds", listener.oldestRun().toMillis() / 1000.0)
                .with(
                        "pause",
                        pause == null
                                ? null
                                : new Row()
                                        .with("by", pause.by())
                                        .with("at", pause.at())
                                        .values())
                .values();
    }

    static Map<String, Object> job(Job job) {
        return new Row()
                .with("job", job.id())
                .with("topic", job.request().topic())
                .with("action", lower(job.request().action()))
                .with("state", lower(job.state()))
                .with("by", job.request().by())
                .with("note", job.request().note())
                .with("createdAt", job.createdAt())
                .with("updatedAt", job.updatedAt())
                .with("node", job.node())
                .with("total", job.total())
                .with("scanned", job.scanned())
                .with("matched", job.matched())
                .with("done", job.done())
                .with("missed", job.missed())
                .with("problem", job.problem())
                .values();
    }
}
