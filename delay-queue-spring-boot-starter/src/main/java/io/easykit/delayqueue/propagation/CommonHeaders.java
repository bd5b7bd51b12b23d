package io.easykit.delayqueue.propagation;

import io.easykit.delayqueue.DelayMessage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Headers of a call with one message or a batch. */
public final class CommonHeaders {

    private CommonHeaders() {}

    /** The value that all messages have, or null: a context fits a batch only if it is that of each message. */
    public static @Nullable String value(List<DelayMessage<Object>> messages, String header) {
        String first = messages.get(0).headers().get(header);
        return first != null
                        && messages.stream()
                                .allMatch(message ->
                                        first.equals(message.headers().get(header)))
                ? first
                : null;
    }
}
