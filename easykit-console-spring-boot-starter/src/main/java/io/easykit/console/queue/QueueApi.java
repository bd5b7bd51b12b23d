package io.easykit.console.queue;

import io.easykit.boot.EnumWords;
import io.easykit.console.Audit;
import io.easykit.console.Caller;
import io.easykit.console.ConsoleApi;
import io.easykit.console.ConsoleReply;
import io.easykit.console.ConsoleRequest;
import io.easykit.console.Refusal;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.actuate.QueueViews;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.ErrorGroup;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.MessageDetail;
import io.easykit.delayqueue.admin.MessagePage;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.admin.MessageRef;
import io.easykit.delayqueue.admin.MessageSummary;
import io.easykit.delayqueue.redis.ServerCheck.Report;
import io.easykit.delayqueue.support.Bytes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The delay queue in the console: topics, pages of messages, single messages, groups of errors. */
public final class QueueApi implements ConsoleApi {

    private static final int MAX_FILTER = 256;
    private static final String DAY = "24h";
    private static final String NEWEST = "newest";

    /** Pages that are read to fill one page of a group. */
    private static final int GROUP_PAGES = 20;

    private final DelayQueueAdmin admin;
    private final FleetAdmin fleet;
    private final Supplier<Optional<Report>> redis;
    private final ShownMessages views;
    private final Audit audit;
    private final Map<String, Change> changes;
    private final TopicOverview overview;
    private final Export export;
    private final ShownClock clock = new ShownClock(System::nanoTime);
    private final Scans scans = new Scans();
    private final QueueViews queue = new QueueViews(Instant::toEpochMilli);

    /**
     * Creates the part of the queue.
     *
     * @param redis what the check of Redis has found; empty if it has not ended, or if there is none
     */
    public QueueApi(
            DelayQueueAdmin admin,
            FleetAdmin fleet,
            ShownMessages views,
            LocalListeners listeners,
            Audit audit,
            Supplier<Optional<Report>> redis) {
        this.admin = admin;
        this.fleet = fleet;
        this.redis = redis;
        this.views = views;
        this.audit = audit;
        this.changes = new QueueChanges(admin, views).all();
        this.overview = new TopicOverview(admin, fleet, listeners, clock, System::nanoTime);
        this.export = new Export(admin, views, scans, audit);
    }

    @Override
    public Set<String> features() {
        return Set.of(
                "queues",
                "waiting",
                "in-flight",
                "dead",
                "groups",
                "settings",
                "find",
                "body",
                "export",
                "series",
                "rates");
    }

    @Override
    public void changed() {
        overview.forget();
    }

    @Override
    public @Nullable Long now() {
        return clock.millis();
    }

    @Override
    public Map<String, Read> reads() {
        return Map.of(
                "topics", StoreErrors.explained((request, caller) -> topics()),
                "topic", StoreErrors.explained((request, caller) -> topic(request)),
                "stopped-keys", StoreErrors.explained((request, caller) -> scans.run(() -> keys(topicOf(request)))),
                "messages", StoreErrors.explained(this::messages),
                "message", StoreErrors.explained(this::message),
                "body", StoreErrors.explained(this::body),
                "export", StoreErrors.explained(this::export),
                "groups",
                        StoreErrors.explained(
                                (request, caller) -> scans.run(() -> queue.groups(admin.groups(topicOf(request))))),
                "find", StoreErrors.explained((request, caller) -> scans.run(() -> found(request.required("id")))));
    }

    @Override
    public Map<String, Change> changes() {
        return StoreErrors.explained(changes);
    }

    private Map<String, Object> topics() {
        Map<String, Object> topics = overview.all();
        redis.get()
                .ifPresent(report ->
                        topics.put("redis", Map.of("server", server(report.details()), "warnings", report.warnings())));
        return topics;
    }

    private static String server(Map<String, String> details) {
        return String.join(", ", details.get("version"), details.get("evictionPolicy"), details.get("persistence"));
    }

    /** An empty page would hide a mistyped name. */
    private String topicOf(ConsoleRequest request) {
        String topic = request.required("topic");
        fleet.requireUsed(topic);
        return topic;
    }

    private Map<String, Object> topic(ConsoleRequest request) {
        boolean isDay = request.word("range", "1h", DAY).equals(DAY);
        return overview.whole(topicOf(request), isDay ? TopicHistory.Range.DAY : TopicHistory.Range.HOUR);
    }

    private Map<String, Object> messages(ConsoleRequest request, Caller caller) {
        String topic = request.required("topic");
        MessageQuery query = MessageQuery.of(state(request.required("state")))
                .size(request.number("size", MessageQuery.DEFAULT_SIZE, 1, DelayQueueAdmin.MAX_PAGE))
                .after(request.parameter("after"));
        if (request.word("order", "oldest", NEWEST).equals(NEWEST)) {
            query = query.newestFirst();
        }
        if (request.parameter("shard") != null) {
            query = query.shard(request.number("shard", 0, 0, Integer.MAX_VALUE));
        }
        String group = request.parameter("group");
        fleet.requireUsed(topic);
        if (group != null) {
            MessageQuery wanted = query;
            return scans.run(() -> ofGroup(topic, group, wanted, caller));
        }
        return views.page(admin.messages(topic, query), caller);
    }

    /** Pages through the dead letters until a page of the group is full, or enough has been read. */
    private Map<String, Object> ofGroup(String topic, String group, MessageQuery query, Caller caller) {
        List<MessageSummary> found = new ArrayList<>();
        Set<String> refused = new LinkedHashSet<>();
        String cursor = query.after();
        for (int i = 0; i < GROUP_PAGES && found.size() < query.size(); i++) {
            // The cursor is behind the last message that was read, so no page may read more than there is room for.
            MessagePage page = admin.messages(topic, query.after(cursor).size(query.size() - found.size()));
            page.messages().stream()
                    .filter(message -> isOf(message.group(), group))
                    .forEach(found::add);
            refused.addAll(page.refused());
            cursor = page.next();
            if (cursor == null) {
                break;
            }
        }
        // No total, because a page counts all messages of the state, not those of the group.
        Map<String, Object> reply = new LinkedHashMap<>();
        reply.put("messages", views.summaries(found, caller));
        reply.put("next", cursor);
        reply.put("refused", refused);
        ErrorGroup kind = found.isEmpty() ? null : found.get(0).group();
        if (kind != null) {
            reply.put("ofGroup", Map.of("group", group, "title", kind.title(), "frame", kind.frame()));
        }
        return reply;
    }

    static boolean isOf(@Nullable ErrorGroup group, String key) {
        return (group == null ? ErrorGroup.NONE : group).key().equals(key);
    }

    private Map<String, Object> message(ConsoleRequest request, Caller caller) {
        String topic = request.required("topic");
        MessageDetail detail = found(topic, request.required("id"));
        Map<String, Object> reply = new LinkedHashMap<>();
        reply.put("message", views.whole(detail, caller));
        return reply;
    }

    private MessageDetail found(String topic, String id) {
        return admin.find(topic, id)
                .orElseThrow(() -> new Refusal(
                        404,
                        "There is no such message.",
                        "It ran, or was cancelled or purged. Go back to the topic.",
                        "gone"));
    }

    private ConsoleReply body(ConsoleRequest request, Caller caller) {
        requireSaves(caller);
        String topic = request.required("topic");
        String id = request.required("id");
        MessageDetail detail = found(topic, id);
        Bytes body = admin.body(topic, new MessageRef(id, detail.incarnation()))
                .orElseThrow(() -> new Refusal(404, "The body was deleted.", "Go back to the topic."));
        audit.read("body", caller, topic, List.of(id), "");
        return ConsoleReply.attachment("body.bin", body.array());
    }

    private ConsoleReply export(ConsoleRequest request, Caller caller) {
        requireSaves(caller);
        return export.reply(topicOf(request), state(request.required("state")), request.parameter("group"), caller);
    }

    private static void requireSaves(Caller caller) {
        if (!caller.operates()) {
            throw new Refusal(403, "Only operators may save bodies.", "Use the account of an operator.");
        }
        if (!caller.seesValues()) {
            throw new Refusal(
                    403, "Nobody may save bodies: easykit.console.show-values is never.", "Change this setting.");
        }
    }

    private Map<String, Object> keys(String topic) {
        return new LinkedHashMap<>(Map.of("keys", queue.stoppedKeys(admin.stoppedKeys(topic))));
    }

    private Map<String, Object> found(String id) {
        if (id.length() > MAX_FILTER) {
            throw new Refusal(400, "The id is longer than " + MAX_FILTER + " characters.", "Give a shorter one.");
        }
        return new LinkedHashMap<>(
                Map.of("messages", admin.find(id).stream().map(views::found).toList()));
    }

    static State state(String word) {
        State state = EnumWords.find(State.class, word);
        if (state == null) {
            throw new Refusal(400, "There is no such state of a message.", "Use waiting, in-flight or dead.");
        }
        return state;
    }
}
