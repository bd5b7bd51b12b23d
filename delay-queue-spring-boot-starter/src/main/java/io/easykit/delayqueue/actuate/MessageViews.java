package io.easykit.delayqueue.actuate;

import io.easykit.boot.EnumWords;
import io.easykit.boot.ShownValues;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.admin.ErrorGroup;
import io.easykit.delayqueue.admin.MessageDetail;
import io.easykit.delayqueue.admin.MessagePage;
import io.easykit.delayqueue.admin.MessageSummary;
import io.easykit.delayqueue.support.Bytes;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Messages as JSON, for the endpoint and the console. Bodies and header values are masked, or left out for callers who may not
 * see them. A value that is null is left out. The maps may be changed.
 */
public final class MessageViews {

    private final ShownValues values;
    private final Function<Instant, Object> times;

    /** @param times writes a time */
    public MessageViews(ShownValues values, Function<Instant, Object> times) {
        this.values = values;
        this.times = times;
    }

    /**
     * A page of messages.
     *
     * @param hidden why the caller may not see bodies and header values, or null if they are shown
     */
    public Map<String, Object> page(MessagePage page, @Nullable String hidden) {
        return new Row(times)
                .with("total", page.total())
                .with("rank", page.rank())
                .with("shard", page.shard())
                .with("messages", summaries(page.messages(), hidden))
                .with("next", page.next())
                .with("refused", page.refused().isEmpty() ? null : page.refused())
                .values();
    }

    /**
     * The messages of a page.
     *
     * @param hidden why the caller may not see bodies and header values, or null if they are shown
     */
    public List<Map<String, Object>> summaries(List<MessageSummary> messages, @Nullable String hidden) {
        return messages.stream().map(message -> summary(message, hidden)).toList();
    }

    private Map<String, Object> summary(MessageSummary message, @Nullable String hidden) {
        Row row = new Row(times).with("id", message.id()).with("state", EnumWords.of(message.state()));
        times(row, message.state(), message.at(), message.due(), message.claimedAt());
        row.with("incarnation", message.incarnation())
                .with("shard", message.shard())
                .with("failures", message.failures())
                .with("leaseExpirations", message.leaseExpirations())
                .with("releases", message.releases())
                .with("owner", message.owner())
                .with("lastError", error(message.lastError(), true))
                .with("group", key(message.group()))
                .with("headerNames", message.headers())
                .with("size", message.size());
        Bytes preview = message.preview();
        if (preview != null) {
            row.with("preview", hidden == null ? values.preview(preview.array()) : null)
                    .with("hidden", hidden);
        }
        return row.with("damage", message.damage()).values();
    }

    /**
     * One message with all that is stored of it, except for a body that is longer than what was read.
     *
     * @param hidden why the caller may not see bodies and header values, or null if they are shown
     */
    public Map<String, Object> detail(MessageDetail detail, @Nullable String hidden) {
        MessageInfo message = detail.message();
        Row row = place(detail);
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
                .with("headerNames", List.copyOf(message.headers().keySet()))
                .with("headers", hidden == null ? headers(message.headers()) : null)
                .with("body", body(detail, hidden))
                .with("damage", message.damage())
                .values();
    }

    /** The topic, the id, the state and its times. */
    public Map<String, Object> found(MessageDetail detail) {
        return place(detail).values();
    }

    private Row place(MessageDetail detail) {
        MessageInfo message = detail.message();
        Row row = new Row(times)
                .with("topic", message.topic())
                .with("id", message.id())
                .with("state", EnumWords.of(message.state()));
        times(row, message.state(), message.at(), detail.due(), detail.claimedAt());
        return row;
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

    private Map<String, String> headers(Map<String, String> headers) {
        Map<String, String> all = new LinkedHashMap<>();
        headers.forEach((name, value) -> all.put(name, values.header(name, value)));
        return all;
    }

    private @Nullable Map<String, Object> body(MessageDetail detail, @Nullable String hidden) {
        Bytes body = detail.message().body();
        if (body == null) {
            return null;
        }
        return hidden == null
                ? values.body(body.array(), detail.bodySize())
                : new Row(times)
                        .with("size", detail.bodySize())
                        .with("hidden", hidden)
                        .values();
    }

    private @Nullable Map<String, Object> error(@Nullable ErrorNote error, boolean firstLine) {
        return error == null
                ? null
                : new Row(times)
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
                        .with("firstDelaySeconds", retry.firstDelay())
                        .with("multiplier", retry.multiplier())
                        .with("maxDelaySeconds", retry.maxDelay())
                        .values();
    }
}
