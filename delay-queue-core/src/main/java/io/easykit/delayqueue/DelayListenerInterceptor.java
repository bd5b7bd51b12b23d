package io.easykit.delayqueue;

import java.util.List;

/**
 * Wraps calls of handlers, for example to set a context. Several are applied in their order, the first one outermost. Claims,
 * renewals of leases and acknowledgements are not wrapped.
 */
@FunctionalInterface
public interface DelayListenerInterceptor {

    /**
     * Wraps one call of a handler, on its thread. An exception fails the run. A return without a call of the handler
     * acknowledges the messages as a return of the handler does, so a message that has to run again needs an exception.
     *
     * @param messages one, or up to the batch size of the endpoint
     * @param handler  to be called once and on this thread, with these messages
     * @throws Exception the exception of the handler
     */
    void handle(ListenerEndpoint endpoint, List<DelayMessage<Object>> messages, MessageHandler.Batch<Object> handler)
            throws Exception;
}
