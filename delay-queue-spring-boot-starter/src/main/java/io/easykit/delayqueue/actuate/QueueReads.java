package io.easykit.delayqueue.actuate;

import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.FleetSnapshot;
import io.easykit.delayqueue.admin.MessageDetail;
import io.easykit.delayqueue.admin.MessagePage;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.LogText;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The reads of the endpoint: what {@link DelayQueueAdmin} and {@link FleetAdmin} return, as JSON. */
final class QueueReads {

    private static final String VIEWS = "topics, topic, messages, message, groups, stopped-keys, nodes or jobs";

    private static final String HIDDEN =
            "management.endpoint.delayqueue.show-values decides who sees bodies and header values";

    private final DelayQueueAdmin admin;
    private final FleetAdmin fleet;
    private final QueueViews views;
    private final MessageViews messages;

    QueueReads(DelayQueueAdmin admin, FleetAdmin fleet, QueueViews views, MessageViews messages) {
        this.admin = admin;
        this.fleet = fleet;
        this.views = views;
        this.messages = messages;
    }

    Map<String, Object> overview() {
        FleetSnapshot snapshot = fleet.snapshot();
        return new Row()
                .with("now", snapshot.now())
                .with("nodeCount", snapshot.nodes())
                .with("topics", snapshot.topics().stream().map(views::topic).toList())
                .values();
    }

    /** @param shown whether the caller may see bodies and header values */
    Object view(String name, Fields fields, boolean shown) {
        return switch (name) {
            case "topics" -> fleet.topics();
            case "topic" -> topic(used(fields));
            case "messages" -> page(fields, shown);
            case "message" -> message(fields, shown);
            case "groups" -> views.groups(admin.groups(used(fields)));
            case "stopped-keys" -> views.stoppedKeys(admin.stoppedKeys(used(fields)));
            case "nodes" -> fleet.nodes().stream().map(views::node).toList();
            case "jobs" -> admin.jobs().stream().map(views::job).toList();
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

    private Map<String, Object> topic(String topic) {
        Map<String, Object> shown = views.topic(admin.stats(topic));
        shown.put(
                "places",
                fleet.nodes().stream().mapToInt(node -> node.places(topic)).sum());
        return shown;
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
        return messages.page(page, shown ? null : HIDDEN);
    }

    private static State state(@Nullable String name) {
        if (name == null) {
            return State.DEAD;
        }
        State state = MessageViews.state(name);
        if (state == null) {
            throw Fields.unusable("state", name, "Give dead, the default, waiting or in-flight.");
        }
        return state;
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
        List<Map<String, Object>> all = found.stream()
                .map(message -> messages.detail(message, shown ? null : HIDDEN))
                .toList();
        return topic == null ? all : all.get(0);
    }
}
