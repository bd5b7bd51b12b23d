package io.easykit.console.queue;

import io.easykit.boot.ShownValues;
import io.easykit.console.Caller;
import io.easykit.console.ConsoleApi.Change;
import io.easykit.console.ConsoleApi.Done;
import io.easykit.console.ConsoleApi.Planned;
import io.easykit.console.EnglishText;
import io.easykit.console.Input;
import io.easykit.console.Refusal;
import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.MessageDetail;
import io.easykit.delayqueue.admin.MessageRef;
import io.easykit.delayqueue.admin.Replacement;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import io.easykit.delayqueue.support.NameRules;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Changes of single messages, and the growth of a topic. A change of a message names a death, or an incarnation, so a page that is
 * out of date changes nothing else.
 */
final class QueueChanges {

    private static final String NOT_DEAD = "not dead any more, or dead again";
    private static final String STOPS_NOTHING = "it stops no key any more";
    private static final String OTHER = "another message has this id now";

    private final DelayQueueAdmin admin;
    private final ShownMessages views;

    QueueChanges(DelayQueueAdmin admin, ShownMessages views) {
        this.admin = admin;
        this.views = views;
    }

    Map<String, Change> all() {
        Map<String, Change> all = new LinkedHashMap<>();
        all.put("redrive", (input, caller) -> {
            String topic = input.required("topic");
            return deaths(topic, input, deaths -> admin.redrive(topic, deaths));
        });
        all.put("purge", (input, caller) -> {
            String topic = input.required("topic");
            input.requireConfirmed(topic, "topic");
            return deaths(topic, input, deaths -> admin.purge(topic, deaths));
        });
        all.put("cancel", (input, caller) -> {
            String topic = input.required("topic");
            return targets(topic, input, "", found -> admin.cancel(topic, found));
        });
        all.put("reschedule", (input, caller) -> reschedule(input));
        all.put("free-key", (input, caller) -> freeKey(input.required("topic"), input.required("id")));
        all.put("grow", (input, caller) -> grow(input));
        if (views.edits()) {
            all.put("replace", this::replace);
        }
        return all;
    }

    private Planned reschedule(Input input) {
        String topic = input.required("topic");
        DueTime due = input.has("due")
                ? DueTime.at(Instant.ofEpochMilli(input.number("due")))
                : DueTime.after(input.duration("delay"));
        String filter = due.relative() ? "due in " + due.millis() + " ms" : "due at " + due.millis();
        return targets(topic, input, filter, found -> admin.reschedule(topic, found, due));
    }

    private Planned freeKey(String topic, String id) {
        String key = NameRules.orderingKey(id);
        if (key == null) {
            throw new Refusal(
                    400, "The message has no ordering key.", "Give the id of the dead letter that stops a key.");
        }
        return new Planned(topic, List.of(id), "key " + key, () -> {
            String why = admin.freeKey(topic, key, id) ? null : STOPS_NOTHING;
            return Done.of(reply(List.of(id), i -> why));
        });
    }

    /** Confirmed by the name of the topic, because shards cannot be taken away. */
    private Planned grow(Input input) {
        String topic = input.required("topic");
        Integer shards = input.count("shards", ShardKey.MAX_SHARDS);
        if (shards == null) {
            throw new Refusal(400, "The number of shards is missing.", "Give the number of shards to have.");
        }
        input.requireConfirmed(topic, "topic");
        return new Planned(
                topic,
                List.of(),
                "to " + shards + " shards",
                () -> Done.of(Map.of("shards", shards, "shardsBefore", admin.growShards(topic, shards))));
    }

    private Planned replace(Input input, Caller caller) {
        String topic = input.required("topic");
        DeadLetterRef death = new DeadLetterRef(input.required("id"), Instant.ofEpochMilli(input.number("diedAt")));
        String incarnation = input.text("incarnation");
        Map<String, String> headers = input.texts("headers");
        Bytes old = editable(topic, death.id(), caller);
        Bytes body = input.has("body") ? Bytes.of(input.content("body").getBytes(StandardCharsets.UTF_8)) : old;
        return new Planned(
                topic,
                List.of(death.id()),
                "",
                () -> replaced(death.id(), admin.replace(topic, death, incarnation, headers, body)));
    }

    /** The body of a message that the caller can edit. */
    private Bytes editable(String topic, String id, Caller caller) {
        MessageDetail detail = admin.find(topic, id)
                .orElseThrow(() -> new Refusal(404, "There is no such message.", "Go back to the topic.", "gone"));
        String why = views.uneditable(detail, caller);
        Bytes body = detail.message().body();
        if (why != null || body == null) {
            throw new Refusal(
                    409, String.valueOf(why), "Send it back as it is, or send a new message from the application.");
        }
        return body;
    }

    private static Done replaced(String id, Replacement replacement) {
        String why =
                switch (replacement.outcome()) {
                    case REPLACED -> null;
                    case NOT_DEAD -> NOT_DEAD;
                    case OTHER_INCARNATION -> OTHER;
                };
        Map<String, Object> reply = reply(List.of(id), i -> why);
        if (why != null) {
            return Done.of(reply);
        }
        Map<String, @Nullable Object> old = new LinkedHashMap<>();
        old.put("sha256", replacement.oldSha256());
        old.put("size", replacement.oldSize());
        Bytes body = replacement.oldBody();
        old.put("body", body == null ? null : ShownValues.text(body.array()));
        old.put("headers", replacement.oldHeaders());
        return new Done(200, reply, Map.of("moved", 1, "old", old));
    }

    private static Planned deaths(String topic, Input input, Function<List<DeadLetterRef>, List<Boolean>> change) {
        List<DeadLetterRef> deaths = input.list("deaths", DelayQueueAdmin.MAX_PAGE).stream()
                .map(one -> new DeadLetterRef(one.required("id"), Instant.ofEpochMilli(one.number("diedAt"))))
                .toList();
        List<String> ids = deaths.stream().map(DeadLetterRef::id).toList();
        return new Planned(topic, ids, "", () -> {
            List<Boolean> moved = change.apply(deaths);
            return Done.of(reply(ids, i -> moved.get(i) ? null : NOT_DEAD));
        });
    }

    private static Planned targets(
            String topic, Input input, String filter, Function<List<MessageRef>, List<ChangeOutcome>> change) {
        List<MessageRef> targets = input.list("targets", DelayQueueAdmin.MAX_PAGE).stream()
                .map(one -> new MessageRef(one.required("id"), one.required("incarnation")))
                .toList();
        List<String> ids = targets.stream().map(MessageRef::id).toList();
        return new Planned(topic, ids, filter, () -> {
            List<ChangeOutcome> outcomes = change.apply(targets);
            return Done.of(reply(ids, i -> why(outcomes.get(i))));
        });
    }

    private static @Nullable String why(ChangeOutcome outcome) {
        return switch (outcome) {
            case APPLIED -> null;
            case GONE -> "gone";
            case IN_FLIGHT -> "in flight";
            case DEAD -> "dead";
            case OTHER_INCARNATION -> OTHER;
        };
    }

    private static Map<String, Object> reply(List<String> ids, Function<Integer, @Nullable String> why) {
        List<Map<String, Object>> leftOut = new ArrayList<>();
        for (int i = 0; i < ids.size(); i++) {
            String reason = why.apply(i);
            if (reason != null) {
                leftOut.add(Map.of("id", ids.get(i), "why", new EnglishText(reason)));
            }
        }
        Map<String, Object> reply = new LinkedHashMap<>();
        reply.put("moved", ids.size() - leftOut.size());
        reply.put("leftOut", leftOut);
        return reply;
    }
}
