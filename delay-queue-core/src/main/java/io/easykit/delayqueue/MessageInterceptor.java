package io.easykit.delayqueue;

import java.util.List;
import java.util.function.Function;

/**
 * Wraps sends and calls of handlers, for example to trace them. What it throws fails the send or the run. Looks for messages,
 * renewals of leases and acknowledgements are not wrapped.
 */
public interface MessageInterceptor {

    /** Wraps nothing. */
    MessageInterceptor NONE = new MessageInterceptor() {};

    /**
     * Wraps one call of the template. Inside a transaction the messages may be stored later than the call returns.
     *
     * @param messages as the application sends them; not empty
     * @param send     sends; to be called once, with these messages or with copies that have other headers
     * @return what {@code send} returns
     */
    default List<SendResult> send(
            List<OutgoingMessage> messages, Function<List<OutgoingMessage>, List<SendResult>> send) {
        return send.apply(messages);
    }

    /**
     * Wraps one call of a handler, on its thread.
     *
     * @param messages one, or up to the batch size of the endpoint
     * @param handler  to be called once
     * @throws Exception what the handler throws
     */
    default void handle(
            ListenerEndpoint endpoint, List<DelayMessage<Object>> messages, MessageHandler.Batch<Object> handler)
            throws Exception {
        handler.handle(messages);
    }
}
