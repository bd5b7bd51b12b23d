package io.easykit.delayqueue.observation;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.propagation.CommonHeaders;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.ReceiverContext;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** One call of a handler with one message or a batch. */
public final class HandleContext extends ReceiverContext<Map<String, String>> {

    /** Headers of the trace by the forms that tracers write: W3C, B3 in one header, B3 in several. */
    private static final Set<String> TRACE = Set.of(
            TraceParent.HEADER,
            "tracestate",
            "b3",
            "x-b3-traceid",
            "x-b3-spanid",
            "x-b3-parentspanid",
            "x-b3-sampled",
            "x-b3-flags");

    private final ListenerEndpoint endpoint;
    private final List<DelayMessage<Object>> messages;
    private final String destination;
    private final List<TraceParent> origins;
    private final boolean linked;

    HandleContext(ListenerEndpoint endpoint, List<DelayMessage<Object>> messages, String destination, Tracing tracing) {
        super((carrier, name) -> Objects.requireNonNull(carrier).get(name), Kind.CONSUMER);
        this.endpoint = endpoint;
        this.messages = messages;
        this.destination = destination;
        this.origins = TraceParent.allOf(messages);
        // A span has one parent at most, and a batch may come from several traces.
        this.linked = tracing == Tracing.LINK || origins.size() > 1;
        setCarrier(carrier(messages));
    }

    /**
     * The headers of the parent's trace, and for a batch those that all its messages have: its baggage has to be that of each of
     * them.
     */
    private static Map<String, String> carrier(List<DelayMessage<Object>> messages) {
        Map<String, String> traced = messages.stream()
                .filter(message -> TraceParent.of(message).isPresent())
                .findFirst()
                .orElse(messages.get(0))
                .headers();
        if (messages.size() == 1) {
            return traced;
        }
        Map<String, String> carrier = new HashMap<>(traced);
        carrier.keySet()
                .removeIf(name ->
                        !TRACE.contains(name.toLowerCase(Locale.ROOT)) && CommonHeaders.value(messages, name) == null);
        return carrier;
    }

    public ListenerEndpoint endpoint() {
        return endpoint;
    }

    public List<DelayMessage<Object>> messages() {
        return messages;
    }

    /** Topic as a tag: one word for all topics beyond a limit. */
    public String destination() {
        return destination;
    }

    /** Spans that sent the messages, each once. */
    public List<TraceParent> origins() {
        return origins;
    }

    /** Whether the span is a root with links to {@link #origins()}, and not a child. */
    public boolean isLinked() {
        return linked;
    }
}
