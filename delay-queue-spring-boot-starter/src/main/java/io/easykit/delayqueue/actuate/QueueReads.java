package io.easykit.delayqueue.actuate;

import io.easykit.boot.EnumWords;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.FleetSnapshot;
import io.easykit.delayqueue.admin.MessageDetail;
import io.easykit.delayqueue.admin.MessagePage;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.LogText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The reads of the endpoint: what {@link DelayQueueAdmin} and {@link FleetAdmin} return, as JSON. */
final class QueueReads {

    private interface View {
        Object read(Fields fields, boolean shown);
    }

    private static final String HIDDEN =
            "management.endpoint.delayqueue.show-values decides who sees bodies and header values";

    private final DelayQueueAdmin admin;
    private final FleetAdmin fleet;
    private final QueueViews views;
    private final MessageViews messages;
    private final Map<String, View> byName = new LinkedHashMap<>();

    QueueReads(DelayQueueAdmin admin, FleetAdmin fleet, QueueViews views, MessageViews messages) {
        this.admin = admin;
        this.fleet = fleet;
        this.views = views;
        this.messages = messages;
        byName.put("topics", (fields, shown) -> fleet.topics());
        byName.put("topic", (fields, shown) -> topic(used(fields)));
        byName.put("messages", this::page);
        byName.put("message", this::message);
        byName.put("groups", (fields, shown) -> views.groups(admin.groups(used(fields))));
        byName.put("stopped-keys", (fields, shown) -> views.stoppedKeys(admin.stoppedKeys(used(fields))));
        byName.put(
                "nodes",
                (fields, shown) -> fleet.nodes().stream().map(views::node).toList());
        byName.put("jobs", (fields, shown) -> admin.jobs().stream()
                .map(job -> views.job(job, shown))
                .toList());
    }

    /** Names of the views. */
    Set<String> names() {
        return byName.keySet();
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
        View view = byName.get(name);
        if (view == null) {
            throw new EndpointRefusal(
                    404,
                    "There is no view '" + LogText.of(name) + "'.",
                    "Use one of " + Fields.listed(names()) + ", or none.");
        }
        return view.read(fields, shown);
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
        State state = EnumWords.find(State.class, name);
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
