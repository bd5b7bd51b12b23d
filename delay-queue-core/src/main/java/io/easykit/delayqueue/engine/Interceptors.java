package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayListenerInterceptor;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendInterceptor;
import io.easykit.delayqueue.SendResult;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The interceptors of an engine. They are supplied at the first call, because they may depend on the engine themselves.
 *
 * <p>Each level gets an unchangeable list, and may go on once, on the same thread, with the same messages: a transaction, an
 * interrupt and the mark of a run belong to the thread, and a second send of generated ids would store the messages twice.
 */
final class Interceptors {

    private final Later<SendInterceptor> sends;
    private final Later<DelayListenerInterceptor> deliveries;

    Interceptors(
            Supplier<? extends Collection<? extends SendInterceptor>> sends,
            Supplier<? extends Collection<? extends DelayListenerInterceptor>> deliveries) {
        this.sends = new Later<>(sends);
        this.deliveries = new Later<>(deliveries);
    }

    List<SendResult> send(List<OutgoingMessage> messages, Function<List<OutgoingMessage>, List<SendResult>> sender) {
        List<SendInterceptor> all = sends.get();
        if (all.isEmpty()) {
            return sender.apply(messages);
        }
        Function<List<OutgoingMessage>, List<SendResult>> next = sender;
        for (int i = all.size() - 1; i >= 0; i--) {
            SendInterceptor interceptor = all.get(i);
            Function<List<OutgoingMessage>, List<SendResult>> rest = next;
            next = given -> new SendLevel(interceptor, given, rest).run();
        }
        return next.apply(List.copyOf(messages));
    }

    void handle(ListenerEndpoint endpoint, List<DelayMessage<Object>> messages, MessageHandler.Batch<Object> handler)
            throws Exception {
        List<DelayListenerInterceptor> all = deliveries.get();
        if (all.isEmpty()) {
            handler.handle(messages);
            return;
        }
        MessageHandler.Batch<Object> next = handler;
        for (int i = all.size() - 1; i >= 0; i--) {
            DelayListenerInterceptor interceptor = all.get(i);
            MessageHandler.Batch<Object> rest = next;
            next = given -> new RunLevel(interceptor, endpoint, given, rest).run();
        }
        next.handle(List.copyOf(messages));
    }

    private static IllegalStateException wrong(Object interceptor, String what) {
        return new IllegalStateException(
                "The interceptor " + interceptor.getClass().getName() + " " + what);
    }

    /** One interceptor of one call of the template. */
    private static final class SendLevel {

        private final SendInterceptor interceptor;
        private final List<OutgoingMessage> given;
        private final Function<List<OutgoingMessage>, List<SendResult>> rest;
        private final Thread caller = Thread.currentThread();
        private boolean called;
        private @Nullable List<SendResult> results;

        SendLevel(
                SendInterceptor interceptor,
                List<OutgoingMessage> given,
                Function<List<OutgoingMessage>, List<SendResult>> rest) {
            this.interceptor = interceptor;
            this.given = given;
            this.rest = rest;
        }

        List<SendResult> run() {
            List<SendResult> returned = interceptor.send(given, this::proceed);
            if (results == null
                    || returned == null
                    || returned.size() != results.size()
                    || returned.stream().anyMatch(Objects::isNull)) {
                throw wrong(
                        interceptor,
                        "did not return one result for each message. Return the results of the send, or throw an exception"
                                + " to refuse a message. The messages are stored only if it has called the send.");
            }
            return returned;
        }

        private List<SendResult> proceed(List<OutgoingMessage> changed) {
            if (Thread.currentThread() != caller) {
                throw wrong(
                        interceptor,
                        "has called the send on another thread, and nothing was sent: the messages would not belong to the"
                                + " transaction of the caller. Call it on the same thread.");
            }
            if (called) {
                throw wrong(
                        interceptor,
                        "has called the send twice, and the second call has sent nothing: messages with generated ids would"
                                + " be stored twice. To repeat sends, set their sendTimeout.");
            }
            requireSame(changed);
            called = true;
            results = rest.apply(changed == given ? given : List.copyOf(changed));
            return results;
        }

        /** The results belong to the messages by their order. */
        private void requireSame(List<OutgoingMessage> changed) {
            if (changed == given) {
                return;
            }
            if (changed == null
                    || changed.stream().anyMatch(Objects::isNull)
                    || !topics(given).equals(topics(changed))) {
                throw wrong(
                        interceptor,
                        "has changed the topics or the number of the messages, and nothing was sent: it may change headers,"
                                + " ids and times only, and throws to refuse a message.");
            }
        }

        private static List<String> topics(List<OutgoingMessage> messages) {
            return messages.stream().map(OutgoingMessage::topic).toList();
        }
    }

    /** One interceptor of one call of a handler. */
    private static final class RunLevel {

        private final DelayListenerInterceptor interceptor;
        private final ListenerEndpoint endpoint;
        private final List<DelayMessage<Object>> given;
        private final MessageHandler.Batch<Object> rest;
        private final Thread worker = Thread.currentThread();
        private boolean called;

        RunLevel(
                DelayListenerInterceptor interceptor,
                ListenerEndpoint endpoint,
                List<DelayMessage<Object>> given,
                MessageHandler.Batch<Object> rest) {
            this.interceptor = interceptor;
            this.endpoint = endpoint;
            this.given = given;
            this.rest = rest;
        }

        void run() throws Exception {
            interceptor.handle(endpoint, given, this::proceed);
        }

        private void proceed(List<DelayMessage<Object>> passed) throws Exception {
            if (Thread.currentThread() != worker) {
                throw wrong(
                        interceptor,
                        "has called the handler on another thread: it would not be interrupted if the lease is lost. Call"
                                + " it on the same thread.");
            }
            if (called) {
                throw wrong(
                        interceptor,
                        "has called the handler twice, and the second call has run nothing: a second run needs another"
                                + " delivery, with a lease of its own. To repeat runs, throw, and set the retry policy.");
            }
            if (passed != given && !ids(given).equals(ids(passed))) {
                throw wrong(
                        interceptor,
                        "has called the handler with other messages than its own: a message that is left out would be"
                                + " acknowledged without a run. Pass on all of them, or throw.");
            }
            called = true;
            rest.handle(given);
        }

        private static List<String> ids(List<DelayMessage<Object>> messages) {
            return messages.stream().map(DelayMessage::id).toList();
        }
    }

    /** A list that is supplied once. After an exception of the supplier the next call repeats it. */
    private static final class Later<T> {

        private final Supplier<? extends Collection<? extends T>> source;
        private volatile @Nullable List<T> known;

        Later(Supplier<? extends Collection<? extends T>> source) {
            this.source = source;
        }

        List<T> get() {
            List<T> all = known;
            if (all == null) {
                all = List.copyOf(source.get());
                known = all;
            }
            return all;
        }
    }
}
