package io.easykit.delayqueue.test;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DurationText;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A message of a topic at the time of an assertion.
 *
 * @param body the whole body, or null if it is missing
 * @param now  the store's clock
 */
record FoundMessage(MessageInfo message, @Nullable Bytes body, Instant now, PayloadCodec codec) {

    private static final int MOST_SHOWN = 200;

    MessageInfo.State state() {
        return message.state();
    }

    Duration left() {
        return Duration.between(now, message.at());
    }

    /**
     * Whether the payload, read as the class of the expected one, equals it, or is written the same. The class of a collection
     * is not enough to read its elements.
     */
    boolean hasPayload(Object expected) {
        Bytes found = body;
        return found != null
                && (expected.equals(decoded(found, expected.getClass())) || isWrittenTheSame(found, expected));
    }

    private boolean isWrittenTheSame(Bytes found, Object expected) {
        Bytes written;
        try {
            written = codec.encode(expected);
        } catch (RuntimeException e) {
            return false;
        }
        // As maps and lists, in which the order of properties does not count.
        Object tree = decoded(written, Object.class);
        return written.equals(found) || (tree != null && tree.equals(decoded(found, Object.class)));
    }

    /** Null if the payload is of another type. */
    private @Nullable Object decoded(Bytes payload, Class<?> type) {
        try {
            return codec.decode(payload, type);
        } catch (RuntimeException e) {
            return null;
        }
    }

    boolean hasErrorContaining(String text) {
        MessageInfo.ErrorNote error = message.lastError();
        return error != null && error.text().contains(text);
    }

    private String time() {
        return switch (state()) {
            case WAITING ->
                left().isNegative()
                        ? "due since " + DurationText.of(left().negated())
                        : "due in " + DurationText.of(left());
            case IN_FLIGHT -> "lease ends in " + DurationText.of(left());
            case DEAD -> "died " + DurationText.of(left().negated()) + " ago";
        };
    }

    /** A long text is cut in failures. */
    static String cut(String text) {
        return text.length() <= MOST_SHOWN ? text : text.substring(0, MOST_SHOWN) + "…";
    }

    @Override
    public String toString() {
        MessageInfo.ErrorNote error = message.lastError();
        return state().name().toLowerCase(Locale.ROOT).replace('_', ' ') + ": id " + message.id() + ", " + time()
                + ", payload " + (body == null ? "missing" : cut(new String(body.array(), UTF_8)))
                + (message.headers().isEmpty() ? "" : ", headers " + message.headers())
                + (message.failures() == 0 ? "" : ", failures " + message.failures())
                + (error == null
                        ? ""
                        : ", error " + cut(error.text().lines().findFirst().orElse("")));
    }
}
