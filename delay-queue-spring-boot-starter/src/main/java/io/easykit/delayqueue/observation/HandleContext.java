package io.easykit.delayqueue.observation;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.ListenerEndpoint;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.ReceiverContext;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** One call of a handler with one message or a batch. */
public final class HandleContext extends ReceiverContext<Map<String, String>> {

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
        setCarrier(messages.stream()
                .filter(message -> TraceParent.of(message).isPresent())
                .findFirst()
                .orElse(messages.get(0))
                .headers());
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
