package io.easykit.delayqueue.actuate;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.DueTime;
import io.easykit.delayqueue.LogText;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.JobRequest;
import io.easykit.delayqueue.admin.MessageRef;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** The changes of the endpoint. Each is recorded, and names one message, one topic or one job. */
final class QueueWrites {

    /** Messages that redrive-all sends back a second, unless the request has a rate. */
    static final int REDRIVES_PER_SECOND = 50;

    private static final String ACTIONS = "redrive, redrive-all, stop-job, purge, cancel, reschedule, pause or resume";

    private final DelayQueueAdmin admin;
    private final FleetAdmin fleet;
    private final EndpointAudit audit;

    QueueWrites(DelayQueueAdmin admin, FleetAdmin fleet, EndpointAudit audit) {
        this.admin = admin;
        this.fleet = fleet;
        this.audit = audit;
    }

    /** @param user name of the caller */
    Map<String, Object> change(String action, Fields fields, String user) {
        String topic = fields.topic();
        return switch (action) {
            case "redrive", "purge" -> ofDeadLetter(action, topic, fields, user);
            case "cancel", "reschedule" -> ofWaiting(action, topic, fields, user);
            case "redrive-all" -> redriveAll(topic, fields, user);
            case "stop-job" -> stopJob(topic, fields, user);
            case "pause", "resume" -> ofTopic(action, new ShardKey(topic, 0).topic(), fields, user);
            default ->
                throw new Refusal(
                        404, "There is no action '" + LogText.of(action) + "'.", "Use one of " + ACTIONS + ".");
        };
    }

    private Map<String, Object> ofDeadLetter(String action, String topic, Fields fields, String user) {
        String id = id(fields);
        Instant diedAt = fields.time("diedAt");
        DeadLetterRef death = new DeadLetterRef(id, diedAt == null ? death(topic, id) : diedAt);
        return audit.around(action, user, topic, id, fields.text("note"), () -> {
            List<DeadLetterRef> one = List.of(death);
            boolean done = (action.equals("purge") ? admin.purge(topic, one) : admin.redrive(topic, one)).get(0);
            if (!done) {
                throw new Refusal(
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
        });
    }

    private Instant death(String topic, String id) {
        MessageInfo message = admin.find(topic, id).orElseThrow(() -> gone(id)).message();
        if (message.state() != State.DEAD) {
            throw new Refusal(
                    409,
                    "Message '" + LogText.of(id) + "' is " + MessageViews.state(message.state())
                            + ", not dead. Nothing was changed.",
                    "Use cancel or reschedule for a waiting message; wait for the end of one that is in flight.");
        }
        return message.diedAt();
    }

    private Map<String, Object> ofWaiting(String action, String topic, Fields fields, String user) {
        String id = id(fields);
        List<MessageRef> one = List.of(new MessageRef(id, fields.text("incarnation")));
        DueTime due = action.equals("reschedule") ? due(fields) : null;
        return audit.around(action, user, topic, id, fields.text("note"), () -> {
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
        });
    }

    private static DueTime due(Fields fields) {
        Duration delay = fields.duration("delay");
        Instant due = fields.time("due");
        if (delay != null && due == null) {
            return DueTime.in(delay);
        }
        if (due != null && delay == null) {
            return DueTime.at(due);
        }
        throw new Refusal(
                400,
                "A reschedule needs either 'delay' or 'due'.",
                "Add one of them, for example delay 5m, or 0s for at once.");
    }

    private Map<String, Object> redriveAll(String topic, Fields fields, String user) {
        String note = fields.text("note");
        JobRequest request = JobRequest.redrive(topic)
                .perSecond(fields.number("perSecond", REDRIVES_PER_SECOND, 1, Integer.MAX_VALUE))
                .by(user, note == null ? "" : note);
        return audit.around("redrive-all", user, topic, "", note, () -> QueueReads.job(admin.start(request)));
    }

    private Map<String, Object> stopJob(String topic, Fields fields, String user) {
        String id = fields.required("id", "the job that redrive-all returned; the path jobs lists them");
        boolean isOfTopic =
                admin.job(id).filter(job -> job.request().topic().equals(topic)).isPresent();
        if (!isOfTopic) {
            throw new Refusal(
                    404,
                    "Topic '" + topic + "' has no job '" + LogText.of(id) + "'.",
                    "The path jobs lists those of the last day.");
        }
        return audit.around("stop-job", user, topic, id, fields.text("note"), () -> {
            if (!admin.stopJob(id)) {
                throw new Refusal(409, "The job does not run.", "The path jobs shows its state.");
            }
            return new Row()
                    .with("topic", topic)
                    .with("job", id)
                    .with("outcome", "stopping")
                    .values();
        });
    }

    private Map<String, Object> ofTopic(String action, String topic, Fields fields, String user) {
        return audit.around(action, user, topic, "", fields.text("note"), () -> {
            boolean pause = action.equals("pause");
            int shards = pause ? fleet.pause(topic, user) : fleet.resume(topic);
            return new Row()
                    .with("topic", topic)
                    .with("outcome", pause ? "paused" : "resumed")
                    .with("changedShards", shards)
                    .values();
        });
    }

    private static String id(Fields fields) {
        return fields.required("id", "close-918; the path messages lists them");
    }

    static Refusal gone(String id) {
        return new Refusal(
                404,
                "There is no message '" + LogText.of(id)
                        + "': it was acknowledged, cancelled or purged, or never sent.",
                "The path messages lists those of a topic.");
    }

    private static Refusal unchanged(String id, String state, String action) {
        return new Refusal(409, "Message '" + LogText.of(id) + "' " + state + ". Nothing was changed.", action);
    }
}
