package io.easykit.delayqueue.test;

import io.easykit.delayqueue.DelayListenerInterceptor;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Records the calls of handlers. As an interceptor it is outside of the records of idempotent listeners, so it also sees deliveries
 * of messages that were handled before. The event of such a delivery comes on its thread, and its call is dropped.
 */
final class HandlerRuns implements DelayListenerInterceptor {

    private final Supplier<Instant> now;
    private final Consumer<List<DelayMessage<Object>>> begins;
    private final List<HandlerRun> runs = new ArrayList<>();

    /** Whether the call that ends next on this thread did not reach its handler. */
    private final ThreadLocal<Boolean> repeated = new ThreadLocal<>();

    /** @param begins called with the messages of each call before it */
    HandlerRuns(Supplier<Instant> now, Consumer<List<DelayMessage<Object>>> begins) {
        this.now = now;
        this.begins = begins;
    }

    @Override
    public void handle(
            ListenerEndpoint endpoint, List<DelayMessage<Object>> messages, MessageHandler.Batch<Object> handler)
            throws Exception {
        begins.accept(messages);
        Instant began = now.get();
        Throwable error = null;
        try {
            handler.handle(messages);
        } catch (Throwable e) {
            error = e;
            throw e;
        } finally {
            if (!takeRepeated()) {
                add(endpoint, began, messages, error);
            }
        }
    }

    /** An object of its own: the bean of a type that is both would be two interceptors. */
    DelayQueueListener repeats() {
        return new DelayQueueListener() {
            /** The last step of a call, so no other one comes in between. */
            @Override
            public void onRepeated(DelayQueueEvent.Repeated event) {
                repeated.set(true);
            }
        };
    }

    private boolean takeRepeated() {
        boolean isRepeated = repeated.get() != null;
        repeated.remove();
        return isRepeated;
    }

    /** A handler whose calls are recorded. */
    @SuppressWarnings("unchecked") // the payload is only shown
    <T> MessageHandler<T> recorded(ListenerEndpoint endpoint, MessageHandler<T> handler) {
        return message ->
                handle(endpoint, List.of((DelayMessage<Object>) message), messages -> handler.handle(message));
    }

    /** A handler of several messages whose calls are recorded. */
    @SuppressWarnings("unchecked") // the payloads are only shown
    <T> MessageHandler.Batch<T> recordedBatch(ListenerEndpoint endpoint, MessageHandler.Batch<T> handler) {
        return messages ->
                handle(endpoint, (List<DelayMessage<Object>>) (Object) messages, same -> handler.handle(messages));
    }

    private synchronized void add(
            ListenerEndpoint endpoint, Instant began, List<DelayMessage<Object>> messages, @Nullable Throwable error) {
        for (DelayMessage<Object> message : messages) {
            runs.add(new HandlerRun(
                    began,
                    endpoint.id(),
                    message.topic(),
                    message.id(),
                    message.payload(),
                    message.headers(),
                    message.attempt(),
                    error));
        }
    }

    synchronized List<HandlerRun> all() {
        return List.copyOf(runs);
    }

    synchronized void clear() {
        runs.clear();
    }
}
