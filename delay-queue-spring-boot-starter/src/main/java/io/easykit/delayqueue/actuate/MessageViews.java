package io.easykit.delayqueue.actuate;

import io.easykit.boot.ShownValues;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.admin.ErrorGroup;
import io.easykit.delayqueue.admin.MessageDetail;
import io.easykit.delayqueue.admin.MessageSummary;
import io.easykit.delayqueue.support.Bytes;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Messages as JSON. Bodies and header values are masked, or left out for callers who may not see them. */
final class MessageViews {

    private static final String HIDDEN =
            "hidden: management.endpoint.delayqueue.show-values decides who sees bodies and header values";

    private final ShownValues values;

    MessageViews(ShownValues values) {
        this.values = values;
    }

    /** {@code waiting}, {@code in-flight} or {@code dead}. */
    static String state(State state) {
        return state.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    Map<String, Object> summary(MessageSummary message, boolean shown) {
        Row row = new Row().with("id", message.id()).with("state", state(message.state()));
        times(row, message.state(), message.at(), message.due(), message.claimedAt());
        row.with("incarnation", message.incarnation())
                .with("shard", message.shard())
                .with("failures", message.failures())
                .with("leaseExpirations", message.leaseExpirations())
                .with("releases", message.releases())
                .with("owner", message.owner())
                .with("error", error(message.lastError(), true))
                .with("group", key(message.group()))
                .with("headers", message.headers())
                .with("size", message.size());
        Bytes preview = message.preview();
        if (preview != null) {
            row.with("preview", shown ? values.preview(preview.array()) : HIDDEN);
        }
        return row.with("damage", message.damage()).values();
    }

    Map<String, Object> detail(MessageDetail detail, boolean shown) {
        MessageInfo message = detail.message();
        Row row = new Row()
                .with("topic", message.topic())
                .with("id", message.id())
                .with("state", state(message.state()));
        times(row, message.state(), message.at(), detail.due(), detail.claimedAt());
        return row.with("incarnation", detail.incarnation())
                .with("shard", detail.shard())
                .with("failures", message.failures())
                .with("leaseExpirations", message.leaseExpirations())
                .with("releases", message.releases())
                .with("owner", message.owner())
                .with("firstError", error(message.firstError(), false))
                .with("lastError", error(message.lastError(), false))
                .with("group", key(detail.group()))
                .with("retry", retry(detail.retry()))
                .with("headers", headers(message.headers(), shown))
                .with("body", body(detail, shown))
                .with("damage", message.damage())
                .values();
    }

    /** The time of the state has the name that the actions use. */
    private static void times(Row row, State state, Instant at, @Nullable Instant due, @Nullable Instant claimedAt) {
        switch (state) {
            case WAITING -> row.with("due", at);
            case IN_FLIGHT -> row.with("due", due).with("leaseUntil", at);
            case DEAD -> row.with("due", due).with("diedAt", at);
        }
        row.with("claimedAt", claimedAt);
    }

    private Map<String, String> headers(Map<String, String> headers, boolean shown) {
        Map<String, String> all = new LinkedHashMap<>();
        headers.forEach((name, value) -> all.put(name, shown ? values.header(name, value) : HIDDEN));
        return all;
    }

    private @Nullable Map<String, Object> body(MessageDetail detail, boolean shown) {
        Bytes body = detail.message().body();
        if (body == null) {
            return null;
        }
        return shown
                ? values.body(body.array(), detail.bodySize())
                : new Row().with("size", detail.bodySize()).with("text", HIDDEN).values();
    }

    private static @Nullable Map<String, Object> error(@Nullable ErrorNote error, boolean firstLine) {
        return error == null
                ? null
                : new Row()
                        .with("at", error.at())
                        .with("owner", error.owner())
                        .with(
                                "text",
                                firstLine ? error.text().lines().findFirst().orElse("") : error.text())
                        .values();
    }

    private static @Nullable String key(@Nullable ErrorGroup group) {
        return group == null ? null : group.key();
    }

    private static @Nullable Map<String, Object> retry(@Nullable RetryPolicy retry) {
        return retry == null
                ? null
                : new Row()
                        .with("maxAttempts", retry.maxAttempts())
                        .with("firstDelay", retry.firstDelay().toString())
                        .with("multiplier", retry.multiplier())
                        .with("maxDelay", retry.maxDelay().toString())
                        .values();
    }
}
