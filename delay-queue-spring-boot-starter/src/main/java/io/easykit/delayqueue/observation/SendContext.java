package io.easykit.delayqueue.observation;

import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendResult;
import io.micrometer.observation.transport.Kind;
import io.micrometer.observation.transport.SenderContext;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One call of the template. Its carrier gets the headers that all messages of the call have in addition. */
public final class SendContext extends SenderContext<Map<String, String>> {

    private final List<OutgoingMessage> messages;
    private final String destination;
    private List<SendResult> results = List.of();

    SendContext(List<OutgoingMessage> messages, String destination) {
        super((carrier, name, value) -> Objects.requireNonNull(carrier).put(name, value), Kind.PRODUCER);
        this.messages = messages;
        this.destination = destination;
        setCarrier(new LinkedHashMap<>());
    }

    void setResults(List<SendResult> results) {
        this.results = results;
    }

    public List<OutgoingMessage> messages() {
        return messages;
    }

    /** Topic as a tag: one word for all topics beyond a limit, and for a call with several topics. */
    public String destination() {
        return destination;
    }

    /** Id of the only message, or null if there are several, or if it is not known. */
    public @Nullable String messageId() {
        if (messages.size() != 1) {
            return null;
        }
        return results.isEmpty() ? messages.get(0).id() : results.get(0).id();
    }
}
