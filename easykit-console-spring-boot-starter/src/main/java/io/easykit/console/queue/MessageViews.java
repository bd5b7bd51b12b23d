package io.easykit.console.queue;

import io.easykit.boot.ShownValues;
import io.easykit.console.Caller;
import io.easykit.console.EnglishText;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.ErrorGroup;
import io.easykit.delayqueue.admin.ErrorGroups;
import io.easykit.delayqueue.admin.MessageDetail;
import io.easykit.delayqueue.admin.MessageSummary;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.NameRules;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Messages as the page shows them. Values are masked, and left out for users who may not see them. */
public final class MessageViews {

    private final ShownValues values;
    private final LocalListeners listeners;
    private final boolean edits;

    /** @param edits whether dead letters may be edited */
    public MessageViews(ShownValues values, LocalListeners listeners, boolean edits) {
        this.values = values;
        this.listeners = listeners;
        this.edits = edits;
    }

    boolean edits() {
        return edits;
    }

    static String place(State state) {
        return switch (state) {
            case WAITING -> "waiting";
            case IN_FLIGHT -> "flight";
            case DEAD -> "dead";
        };
    }

    List<Map<String, Object>> rows(List<MessageSummary> messages, Caller caller) {
        return messages.stream().map(message -> row(message, caller)).toList();
    }

    private Map<String, Object> row(MessageSummary message, Caller caller) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        row.put("id", message.id());
        row.put("incarnation", message.incarnation());
        row.put("shard", message.shard());
        row.put("at", message.at().toEpochMilli());
        row.put("due", millis(message.due()));
        row.put("failures", message.failures());
        row.put("lost", message.leaseExpirations());
        row.put("releases", message.releases());
        row.put("owner", message.owner());
        row.put("since", millis(message.claimedAt()));
        ErrorNote error = message.lastError();
        if (error != null) {
            Map<String, @Nullable Object> shown = new LinkedHashMap<>();
            shown.put("at", error.at().toEpochMilli());
            shown.put("owner", error.owner());
            shown.put("line", firstLine(error.text()));
            ErrorGroup group = message.group();
            shown.put("group", group == null ? null : group.key());
            row.put("error", shown);
        }
        row.put("size", message.size());
        Bytes preview = message.preview();
        if (caller.seesValues() && preview != null) {
            row.put("preview", values.preview(preview.array()));
        } else {
            row.put("hidden", preview != null);
        }
        row.put("damage", message.damage());
        return row;
    }

    Map<String, Object> whole(MessageDetail detail, Caller caller) {
        MessageInfo message = detail.message();
        Map<String, @Nullable Object> whole = new LinkedHashMap<>();
        whole.put("topic", message.topic());
        whole.put("id", message.id());
        whole.put("incarnation", detail.incarnation());
        whole.put("shard", detail.shard());
        whole.put("place", place(message.state()));
        whole.put("at", message.at().toEpochMilli());
        whole.put("due", millis(detail.due()));
        whole.put("since", millis(detail.claimedAt()));
        whole.put("failures", message.failures());
        whole.put("lost", message.leaseExpirations());
        whole.put("releases", message.releases());
        whole.put("owner", message.owner());
        whole.put("firstError", error(message.firstError()));
        whole.put("lastError", error(message.lastError()));
        whole.put("retry", EnglishText.of(retry(detail.retry())));
        whole.put("key", NameRules.orderingKey(message.id()));
        whole.put("damage", EnglishText.of(message.damage()));
        whole.put("headers", headers(message.headers(), caller));
        whole.put("body", body(detail, caller));
        ErrorGroup group = detail.group();
        whole.put("group", group == null ? null : group.key());
        Bytes body = message.body();
        whole.put(
                "readable",
                body == null || detail.isCut()
                        ? null
                        : listeners.readable(message.topic(), body, caller.savesBodies()));
        String uneditable = edits && caller.changes() ? uneditable(detail, caller) : "Nobody may edit messages here.";
        whole.put("editable", uneditable == null);
        whole.put("uneditable", EnglishText.of(uneditable));
        return whole;
    }

    /** The reason why the caller cannot edit a message here, or null. Values that are hidden or masked would be lost. */
    @Nullable String uneditable(MessageDetail detail, Caller caller) {
        if (!caller.seesValues()) {
            return "Its values are not shown to you, and would be lost.";
        }
        MessageInfo message = detail.message();
        Bytes body = message.body();
        if (message.state() != State.DEAD) {
            return "Only dead letters can be edited.";
        }
        if (body == null) {
            return "The body was deleted, or cannot be read.";
        }
        if (detail.isCut()) {
            return "The body is larger than 256 KB.";
        }
        Map<String, Object> shown = values.body(body.array(), detail.bodySize());
        if ("binary".equals(shown.get("kind"))) {
            return "The body is not text.";
        }
        boolean masked = Boolean.TRUE.equals(shown.get("masked"))
                || message.headers().entrySet().stream().anyMatch(header -> !header.getValue()
                        .equals(values.header(header.getKey(), header.getValue())));
        return masked ? "Values of the message are masked, and would be lost." : null;
    }

    static List<Map<String, Object>> groups(List<ErrorGroups.Count> groups) {
        List<Map<String, Object>> shown = new ArrayList<>();
        for (ErrorGroups.Count one : groups) {
            Map<String, Object> group = new LinkedHashMap<>();
            group.put("group", one.group().key());
            group.put("error", one.group().title());
            group.put("type", one.group().type());
            group.put("frame", one.group().frame());
            group.put("count", one.count());
            group.put("firstAt", one.first().toEpochMilli());
            group.put("lastAt", one.last().toEpochMilli());
            DeadLetterRef sample = one.sample();
            group.put(
                    "sample",
                    Map.of("id", sample.id(), "diedAt", sample.diedAt().toEpochMilli()));
            shown.add(group);
        }
        return shown;
    }

    private List<Map<String, @Nullable Object>> headers(Map<String, String> headers, Caller caller) {
        List<Map<String, @Nullable Object>> shown = new ArrayList<>();
        headers.forEach((name, value) -> {
            Map<String, @Nullable Object> header = new LinkedHashMap<>();
            header.put("name", name);
            header.put("value", caller.seesValues() ? values.header(name, value) : null);
            shown.add(header);
        });
        return shown;
    }

    private @Nullable Map<String, Object> body(MessageDetail detail, Caller caller) {
        Bytes body = detail.message().body();
        if (body == null) {
            return null;
        }
        if (!caller.seesValues()) {
            return Map.of("size", detail.bodySize(), "hidden", caller.operates() ? "never" : "role");
        }
        return values.body(body.array(), detail.bodySize());
    }

    private static @Nullable Map<String, Object> error(@Nullable ErrorNote error) {
        return error == null
                ? null
                : Map.of("at", error.at().toEpochMilli(), "owner", error.owner(), "text", error.text());
    }

    private static @Nullable String retry(@Nullable RetryPolicy retry) {
        return retry == null ? null : retry.maxAttempts() + " × " + LocalListeners.backOff(retry);
    }

    private static @Nullable Long millis(@Nullable Instant at) {
        return at == null ? null : at.toEpochMilli();
    }

    private static String firstLine(String text) {
        int end = text.indexOf('\n');
        return end < 0 ? text : text.substring(0, end);
    }
}
