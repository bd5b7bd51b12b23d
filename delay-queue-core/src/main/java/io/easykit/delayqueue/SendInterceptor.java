package io.easykit.delayqueue;

import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Wraps sends, for example to add headers. Several are applied in their order, the first one outermost. Redrives, retries, and
 * repetitions of a send without a reply do not pass through it.
 */
@FunctionalInterface
public interface SendInterceptor {

    /**
     * Wraps one call of the template, on the caller's thread. An exception fails the call, and nothing is sent unless
     * {@code send} was called before. Inside a transaction the messages may be stored later than the call returns.
     *
     * @param messages as the application sends them; not empty
     * @param send     sends; to be called once and on this thread, with these messages or with changed copies of them. The
     *     number of messages and their topics must stay the same
     * @return the results of {@code send}
     */
    List<SendResult> send(List<OutgoingMessage> messages, Function<List<OutgoingMessage>, List<SendResult>> send);

    /**
     * An interceptor that changes each message.
     *
     * @param change returns the message or a changed copy, or throws to refuse it
     */
    static SendInterceptor forEach(UnaryOperator<OutgoingMessage> change) {
        return (messages, send) -> send.apply(messages.stream().map(change).toList());
    }
}
