package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.UndecodableMessageException;
import io.easykit.delayqueue.admin.ErrorGroup;
import io.easykit.delayqueue.admin.MessageDetail;
import io.easykit.delayqueue.admin.MessageSummary;
import io.easykit.delayqueue.store.Browsed;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.store.StoredMessage.History;
import io.easykit.delayqueue.support.Bytes;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Decodes stored messages for pages and for the display of one message. */
final class MessageSummaries {

    private static final HexFormat HEX = HexFormat.of();

    private MessageSummaries() {}

    static MessageSummary of(int shard, State state, Browsed.Entry entry) {
        Envelope envelope = null;
        String damage = entry.damage();
        if (entry.size() > 0) {
            try {
                envelope = Envelope.decode(entry.frame());
            } catch (UndecodableMessageException e) {
                // A beginning that ends within the headers is no damage.
                damage = entry.size() > entry.frame().length() ? damage : join(damage, e.getMessage());
            }
        }
        History history = entry.history();
        MessageInfo.ErrorNote error = entry.lastError();
        return new MessageSummary(
                entry.id(),
                incarnation(entry.frame()),
                shard,
                state,
                entry.at(),
                due(state, entry.at(), history),
                history == null ? 0 : history.failures(),
                history == null ? 0 : history.leaseExpirations(),
                history == null ? 0 : history.releases(),
                history == null ? null : history.owner(),
                claimedAt(history),
                error,
                error == null ? null : ErrorGroup.of(error.text()),
                envelope == null ? List.of() : List.copyOf(envelope.headers().keySet()),
                entry.size(),
                envelope == null ? null : envelope.body(),
                damage);
    }

    /** A message whose frame is cut after {@link MessageDetail#MOST_BYTES}. */
    static MessageDetail detail(String topic, int shard, StoredMessage message) {
        MessageInfo info = MessageInfos.of(topic, message);
        Bytes frame = message.frame();
        Envelope envelope = null;
        try {
            envelope = frame == null ? null : Envelope.decode(frame);
        } catch (UndecodableMessageException alreadyReported) {
            // MessageInfos reports it as damage.
        }
        MessageInfo.ErrorNote error = message.lastError();
        return new MessageDetail(
                info,
                frame == null ? null : incarnation(frame),
                shard,
                due(message.state(), message.at(), message.history()),
                claimedAt(message.history()),
                envelope == null ? null : envelope.retry(),
                envelope == null || frame == null ? -1 : envelope.body().length() + message.size() - frame.length(),
                error == null ? null : ErrorGroup.of(error.text()));
    }

    static @Nullable String incarnation(Bytes frame) {
        return frame.length() == 0
                ? null
                : HEX.formatHex(Arrays.copyOf(frame.array(), Math.min(Long.BYTES, frame.length())));
    }

    static @Nullable Bytes incarnation(@Nullable String text) {
        return text == null ? null : Bytes.of(HEX.parseHex(text));
    }

    private static @Nullable Instant due(State state, Instant at, @Nullable History history) {
        if (state == State.WAITING) {
            return at;
        }
        return history == null ? null : history.due();
    }

    /** The store takes its clock in microseconds for the number of a delivery, unless a greater one was given before. */
    private static @Nullable Instant claimedAt(@Nullable History history) {
        return history == null || history.number() == 0 ? null : Instant.ofEpochMilli(history.number() / 1000);
    }

    private static String join(@Nullable String... damages) {
        return Stream.of(damages).filter(Objects::nonNull).collect(Collectors.joining("; "));
    }
}
