package io.easykit.delayqueue.actuate;

import io.easykit.boot.EnumWords;
import io.easykit.boot.OperatorAudit;
import io.easykit.boot.OperatorAudit.Outcome;
import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.JobRequest;
import io.easykit.delayqueue.admin.MessageRef;
import io.easykit.delayqueue.admin.UnknownTopicException;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.DueTime;
import io.easykit.delayqueue.support.LogText;
import io.easykit.delayqueue.support.NameRules;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The changes of the endpoint. Each is recorded, and names one message, one topic or one job. */
final class QueueWrites {

    private interface Change {
        Map<String, Object> make(Fields fields, String user);
    }

    /** Longest name of a user that a pause has, in characters. */
    private static final int MAX_NAME = 200;

    private final DelayQueueAdmin admin;
    private final FleetAdmin fleet;
    private final QueueViews views;
    private final OperatorAudit audit;
    private final Map<String, Change> byName = new LinkedHashMap<>();

    QueueWrites(DelayQueueAdmin admin, FleetAdmin fleet, QueueViews views, OperatorAudit audit) {
        this.admin = admin;
        this.fleet = fleet;
        this.views = views;
        this.audit = audit;
        byName.put("redrive", (fields, user) -> ofDeadLetter("redrive", fields.topic(), fields));
        byName.put("redrive-all", (fields, user) -> redriveAll(fields.topic(), fields, user));
        byName.put("stop-job", (fields, user) -> stopJob(fields.topic(), fields));
        byName.put("purge", (fields, user) -> ofDeadLetter("purge", fields.topic(), fields));
        byName.put("free-key", (fields, user) -> freeKey(fields.topic(), fields));
        byName.put("cancel", (fields, user) -> ofWaiting("cancel", fields.topic(), fields));
        byName.put("reschedule", (fields, user) -> ofWaiting("reschedule", fields.topic(), fields));
        byName.put("pause", (fields, user) -> ofTopic(true, fields, user));
        byName.put("resume", (fields, user) -> ofTopic(false, fields, user));
        byName.put("grow", (fields, user) -> grow(fields.topic(), fields));
    }

    /** Names of the changes. */
    Set<String> names() {
        return byName.keySet();
    }

    /** @param user name of the caller */
    Map<String, Object> change(String action, Fields fields, String user) {
        Change change = byName.get(action);
        if (change == null) {
            throw new EndpointRefusal(
                    404,
                    "There is no action '" + LogText.of(action) + "'.",
                    "Use one of " + Fields.listed(names()) + ".");
        }
        return audit.around(
                entry(action, fields, user),
                () -> change.make(fields, user),
                reply -> Map.of(),
                failure -> outcome(action, failure));
    }

    private Map<String, Object> entry(String action, Fields fields, String user) {
        String id = OperatorAudit.cut(Objects.requireNonNullElse(fields.text("id"), ""));
        boolean ofMessage = !id.isEmpty() && !action.equals("stop-job");
        Map<String, Object> entry = audit.entry(action, user, "actuator");
        entry.put("topic", OperatorAudit.cut(Objects.requireNonNullElse(fields.text("topic"), "")));
        entry.put("count", ofMessage ? 1 : 0);
        entry.put("ids", ofMessage ? List.of(id) : List.of());
        entry.put("filter", filter(action, fields, ofMessage ? "" : id));
        entry.put("note", OperatorAudit.cut(Objects.requireNonNullElse(fields.text("note"), "")));
        return entry;
    }

    private static String filter(String action, Fields fields, String job) {
        if (action.equals("grow")) {
            return OperatorAudit.cut("to " + fields.text("shards") + " shards");
        }
        return job.isEmpty() ? "" : "job " + job;
    }

    private static Outcome outcome(String action, RuntimeException failure) {
        if (failure instanceof EndpointRefusal
                || failure instanceof IllegalArgumentException
                || failure instanceof TopicConflictException
                || failure instanceof UnknownTopicException) {
            return Outcome.REFUSED;
        }
        return mayBeMade(action, failure) ? Outcome.UNKNOWN : Outcome.FAILED;
    }

    private static boolean mayBeMade(String action, RuntimeException failure) {
        boolean ofSeveralShards = action.equals("pause") || action.equals("resume");
        if (failure instanceof StoreUnavailableException away) {
            return away.isOutcomeUnknown() || ofSeveralShards;
        }
        boolean ofSeveralCalls = ofSeveralShards || action.equals("grow");
        return failure instanceof DelayQueueException && ofSeveralCalls;
    }

    private Map<String, Object> ofDeadLetter(String action, String topic, Fields fields) {
        String id = id(fields);
        Instant diedAt = fields.time("diedAt");
        DeadLetterRef death = new DeadLetterRef(id, diedAt == null ? death(topic, id) : diedAt);
        List<DeadLetterRef> one = List.of(death);
        boolean done = (action.equals("purge") ? admin.purge(topic, one) : admin.redrive(topic, one)).get(0);
        if (!done) {
            throw new EndpointRefusal(
                    409,
                    "Message '" + LogText.of(id) + "' is not dead, or has died again since " + death.diedAt()
                            + ". Nothing was changed.",
                    "Read it again, and use the diedAt that it shows now.");
        }
        return new Row()
                .with("topic", topic)
                .with("id", id)
                .with("outcome", action.equals("purge") ? "purged" : "redriven")
                .values();
    }

    private Map<String, Object> freeKey(String topic, Fields fields) {
        String id = id(fields);
        String key = NameRules.orderingKey(id);
        if (key == null || !admin.freeKey(topic, key, id)) {
            throw new EndpointRefusal(
                    409,
                    "Message '" + LogText.of(id) + "' is not dead, or holds no ordering key. Nothing was changed.",
                    "The path stopped-keys lists the keys that are stopped, with the id of the dead letter.");
        }
        return new Row()
                .with("topic", topic)
                .with("key", key)
                .with("id", id)
                .with("outcome", "freed")
                .values();
    }

    private Instant death(String topic, String id) {
        MessageInfo message = admin.find(topic, id).orElseThrow(() -> gone(id)).message();
        if (message.state() != State.DEAD) {
            throw new EndpointRefusal(
                    409,
                    "Message '" + LogText.of(id) + "' is " + EnumWords.of(message.state())
                            + ", not dead. Nothing was changed.",
                    "Use cancel or reschedule for a waiting message; wait for the end of one that is in flight.");
        }
        return message.diedAt();
    }

    private Map<String, Object> ofWaiting(String action, String topic, Fields fields) {
        String id = id(fields);
        List<MessageRef> one = List.of(new MessageRef(id, fields.text("incarnation")));
        DueTime due = action.equals("reschedule") ? due(fields) : null;
        ChangeOutcome outcome = (due == null ? admin.cancel(topic, one) : admin.reschedule(topic, one, due)).get(0);
        return switch (outcome) {
            case APPLIED ->
                new Row()
                        .with("topic", topic)
                        .with("id", id)
                        .with("outcome", due == null ? "cancelled" : "rescheduled")
                        .values();
            case GONE -> throw gone(id);
            case IN_FLIGHT ->
                throw unchanged(id, "is in flight", "Wait for the end of its run; a run cannot be taken back.");
            case DEAD -> throw unchanged(id, "is dead", "Use redrive or purge.");
            case OTHER_INCARNATION ->
                throw unchanged(id, "is another one than the one that is meant", "Read it again.");
        };
    }

    private static DueTime due(Fields fields) {
        Duration delay = fields.duration("delay");
        Instant due = fields.time("due");
        if (delay != null && due == null) {
            return DueTime.after(delay);
        }
        if (due != null && delay == null) {
            return DueTime.at(due);
        }
        throw new EndpointRefusal(
                400,
                "A reschedule needs either 'delay' or 'due'.",
                "Add one of them, for example delay 5m, or 0s for at once.");
    }

    private Map<String, Object> redriveAll(String topic, Fields fields, String user) {
        String note = fields.text("note");
        JobRequest request = JobRequest.redrive(topic).by(user, note == null ? "" : note);
        request = QueueViews.UNLIMITED.equals(fields.text("perSecond"))
                ? request.withoutLimit()
                : request.perSecond(fields.number(
                        "perSecond", request.perSecond(), 1, QueueViews.MAX_RATE, ", or " + QueueViews.UNLIMITED));
        fleet.requireUsed(topic);
        return views.job(admin.start(request), false);
    }

    /** Also stops a job that only another version can read, so its topic is not known here. */
    private Map<String, Object> stopJob(String topic, Fields fields) {
        String id = fields.required("id", "the job that redrive-all returned; the path jobs lists them");
        boolean isOfOther = admin.job(id)
                .filter(job -> !job.request().topic().equals(topic))
                .isPresent();
        if (isOfOther) {
            throw new EndpointRefusal(
                    404,
                    "Topic '" + topic + "' has no job '" + LogText.of(id) + "'.",
                    "The path jobs lists those of the last day.");
        }
        if (!admin.stopJob(id)) {
            throw new EndpointRefusal(409, "The job does not run.", "The path jobs shows its state.");
        }
        return new Row()
                .with("topic", topic)
                .with("id", id)
                .with("outcome", "stopping")
                .values();
    }

    private Map<String, Object> grow(String topic, Fields fields) {
        fields.required("shards", "8");
        int shards = fields.number("shards", 0, 1, ShardKey.MAX_SHARDS);
        int before = admin.growShards(topic, shards);
        return new Row()
                .with("topic", topic)
                .with("outcome", before == shards ? "unchanged" : "grown")
                .with("shards", shards)
                .with("shardsBefore", before)
                .values();
    }

    private Map<String, Object> ofTopic(boolean pause, Fields fields, String user) {
        String topic = new ShardKey(fields.topic(), 0).topic();
        String by = user.substring(0, Math.min(MAX_NAME, user.length()));
        if (pause) {
            fleet.requireUsed(topic);
        }
        int shards = pause ? fleet.pause(topic, by) : fleet.resume(topic);
        if (shards == 0) {
            fleet.requireUsed(topic); // a topic that was paused before its first use can be resumed
        }
        return new Row()
                .with("topic", topic)
                .with("outcome", pause ? "paused" : "resumed")
                .with("changedShards", shards)
                .values();
    }

    private static String id(Fields fields) {
        return fields.required("id", "close-918; the path messages lists them");
    }

    static EndpointRefusal gone(String id) {
        return new EndpointRefusal(
                404,
                "There is no message '" + LogText.of(id)
                        + "': it was acknowledged, cancelled or purged, or never sent.",
                "The path messages lists those of a topic.");
    }

    private static EndpointRefusal unchanged(String id, String state, String action) {
        return new EndpointRefusal(409, "Message '" + LogText.of(id) + "' " + state + ". Nothing was changed.", action);
    }
}
