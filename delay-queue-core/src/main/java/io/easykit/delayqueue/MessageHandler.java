package io.easykit.delayqueue;

import java.util.List;

/**
 * Handles messages, one at a time on a thread. A return acknowledges the message, unless the endpoint has another mode; an
 * exception fails it. The thread is interrupted when this listener loses the message.
 */
@FunctionalInterface
public interface MessageHandler<T> {

    void handle(DelayMessage<T> message) throws Exception;

    /**
     * Handles several messages in one call, at most as many as the endpoint's batch size. Returning acknowledges, throwing
     * fails, those of them that the handler has not settled itself.
     */
    @FunctionalInterface
    interface Batch<T> {

        void handle(List<DelayMessage<T>> messages) throws Exception;
    }
}
