package io.easykit.delayqueue.observation;

import io.easykit.delayqueue.DelayListenerInterceptor;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendInterceptor;
import io.easykit.delayqueue.SendResult;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Observes each call of the template and each call of a handler. The context of the send travels with its messages, in the
 * headers that the tracer writes.
 */
public final class ObservedMessages implements SendInterceptor, DelayListenerInterceptor {

    /** Beyond so many topics all others share a tag, because observations are meters too. */
    static final int MOST_TOPICS = 200;

    static final String OTHER = "other";

    /** The topic of a call with messages of several topics. */
    static final String SEVERAL = "several";

    private static final SendConvention SEND = new SendConvention();
    private static final HandleConvention HANDLE = new HandleConvention();

    private final ObservationRegistry registry;
    private final Tracing tracing;
    private final Set<String> topics = ConcurrentHashMap.newKeySet();

    public ObservedMessages(ObservationRegistry registry, Tracing tracing) {
        this.registry = registry;
        this.tracing = tracing;
    }

    private boolean isOff() {
        return tracing == Tracing.OFF || registry.isNoop();
    }

    @Override
    public List<SendResult> send(
            List<OutgoingMessage> messages, Function<List<OutgoingMessage>, List<SendResult>> send) {
        if (isOff()) {
            return send.apply(messages);
        }
        SendContext context = new SendContext(messages, tag(topicOf(messages)));
        Observation observation = Observation.createNotStarted(null, SEND, () -> context, registry);
        return Objects.requireNonNull(observation.observe(() -> {
            List<SendResult> results = send.apply(withHeaders(messages, context));
            context.setResults(results);
            return results;
        }));
    }

    private static List<OutgoingMessage> withHeaders(List<OutgoingMessage> messages, SendContext context) {
        Map<String, String> headers = Objects.requireNonNull(context.getCarrier());
        if (headers.isEmpty()) {
            return messages;
        }
        return messages.stream()
                .map(message -> {
                    OutgoingMessage more = message;
                    for (Map.Entry<String, String> header : headers.entrySet()) {
                        more = more.header(header.getKey(), header.getValue());
                    }
                    return more;
                })
                .toList();
    }

    @Override
    public void handle(
            ListenerEndpoint endpoint, List<DelayMessage<Object>> messages, MessageHandler.Batch<Object> handler)
            throws Exception {
        if (isOff()) {
            handler.handle(messages);
            return;
        }
        HandleContext context = new HandleContext(endpoint, messages, tag(endpoint.topic()), tracing);
        Observation observation = Observation.createNotStarted(null, HANDLE, () -> context, registry);
        observation.observeChecked((Observation.CheckedRunnable<Exception>) () -> handler.handle(messages));
    }

    static String topicOf(List<OutgoingMessage> messages) {
        String first = messages.get(0).topic();
        return messages.stream().allMatch(message -> message.topic().equals(first)) ? first : SEVERAL;
    }

    private String tag(String topic) {
        return topics.contains(topic) || (topics.size() < MOST_TOPICS && topics.add(topic)) ? topic : OTHER;
    }
}
