package io.easykit.delayqueue.test;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One call of a handler with one message. A delivery that an idempotent listener skips, because it has handled the message before,
 * is none. In an application, a failure of the store of its records counts as one.
 *
 * @param at       when it began, by the store's clock
 * @param listener id of the endpoint
 * @param attempt  which run, from 1
 * @param error    the exception of the handler, or null if it returned
 */
public record HandlerRun(
        Instant at,
        String listener,
        String topic,
        String id,
        Object payload,
        Map<String, String> headers,
        int attempt,
        @Nullable Throwable error) {

    public HandlerRun {
        headers = Map.copyOf(headers);
    }

    @Override
    public String toString() {
        return "listener '" + listener + "' at " + at + ", attempt " + attempt + ", id " + id + ", payload " + payload
                + (error == null ? "" : ", failed by " + error);
    }
}
