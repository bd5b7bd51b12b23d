package io.easykit.console.queue;

import io.easykit.boot.ShownValues;
import io.easykit.console.Caller;
import io.easykit.console.EnglishText;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.actuate.MessageViews;
import io.easykit.delayqueue.admin.MessageDetail;
import io.easykit.delayqueue.admin.MessagePage;
import io.easykit.delayqueue.admin.MessageSummary;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.NameRules;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Messages as the page shows them: as the endpoint does, with times in milliseconds, and with what only the page needs. Values are
 * masked, and left out for users who may not see them.
 */
public final class ShownMessages {

    private final ShownValues values;
    private final MessageViews shared;
    private final LocalListeners listeners;
    private final boolean edits;

    /** @param edits whether dead letters may be edited */
    public ShownMessages(ShownValues values, LocalListeners listeners, boolean edits) {
        this.values = values;
        this.shared = new MessageViews(values, Instant::toEpochMilli);
        this.listeners = listeners;
        this.edits = edits;
    }

    boolean edits() {
        return edits;
    }

    Map<String, Object> page(MessagePage page, Caller caller) {
        return shared.page(page, hidden(caller));
    }

    List<Map<String, Object>> summaries(List<MessageSummary> messages, Caller caller) {
        return shared.summaries(messages, hidden(caller));
    }

    /** The topic, the id, the state and its times. */
    Map<String, Object> found(MessageDetail detail) {
        return shared.found(detail);
    }

    /** Why bodies and header values are hidden, as a word for the page, or null if they are shown. */
    private static @Nullable String hidden(Caller caller) {
        if (caller.seesValues()) {
            return null;
        }
        return caller.operates() ? "never" : "role";
    }

    Map<String, Object> whole(MessageDetail detail, Caller caller) {
        MessageInfo message = detail.message();
        Map<String, @Nullable Object> whole = shared.detail(detail, hidden(caller));
        whole.put("retryText", EnglishText.of(retry(detail.retry())));
        whole.put("key", NameRules.orderingKey(message.id()));
        whole.computeIfPresent("damage", (name, damage) -> new EnglishText(String.valueOf(damage)));
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

    private static @Nullable String retry(@Nullable RetryPolicy retry) {
        return retry == null ? null : retry.maxAttempts() + " × " + LocalListeners.backOff(retry);
    }
}
