package io.easykit.delayqueue;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message to be sent. Begin with {@link #of}; each further method returns a changed copy.
 *
 * <pre>{@code
 * OutgoingMessage.of("order-close", new CloseOrder(id)).in(Duration.ofMinutes(30)).id("close-" + id)
 * }</pre>
 *
 * @param topic   where to
 * @param payload anything the codec encodes
 * @param due     when; at once unless said otherwise
 * @param id      own id, or null for a generated one
 * @param headers names and values
 * @param retry   the message's own policy, or null for that of its listener
 * @param phase   when to store it in a transaction, or null for the template's
 */
public record OutgoingMessage(
        String topic,
        Object payload,
        Due due,
        @Nullable String id,
        Map<String, String> headers,
        @Nullable RetryPolicy retry,
        @Nullable SendPhase phase) {

    public OutgoingMessage {
        if (payload == null) {
            throw new IllegalArgumentException(
                    "A message to topic '" + topic
                            + "' has no payload, which no listener could be given: send a value, such as the id of what it is about.");
        }
        if (id != null) {
            MessageIds.requireOwn(id);
        }
        headers.forEach((name, value) -> {
            if (name == null || value == null) {
                throw new IllegalArgumentException("Header '" + name + "' of a message to topic '" + topic
                        + "' has the value " + value + ": give it a name and a value, or leave it out.");
            }
        });
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    public static OutgoingMessage of(String topic, Object payload) {
        return new OutgoingMessage(topic, payload, Due.in(Duration.ZERO), null, Map.of(), null, null);
    }

    /** Due a while after the store has taken it, by the store's clock. */
    public OutgoingMessage in(Duration delay) {
        return with(Due.in(delay));
    }

    /** Due at an instant, by the store's clock. One that has passed is due at once. */
    public OutgoingMessage at(Instant instant) {
        return with(Due.at(instant));
    }

    /** An id of its own, 1 to 256 bytes: while a message with this id is live, another one is not stored. */
    public OutgoingMessage id(String ownId) {
        return new OutgoingMessage(topic, payload, due, ownId, headers, retry, phase);
    }

    public OutgoingMessage header(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new OutgoingMessage(topic, payload, due, id, more, retry, phase);
    }

    public OutgoingMessage retry(RetryPolicy policy) {
        return new OutgoingMessage(topic, payload, due, id, headers, policy, phase);
    }

    public OutgoingMessage phase(SendPhase sendPhase) {
        return new OutgoingMessage(topic, payload, due, id, headers, retry, sendPhase);
    }

    private OutgoingMessage with(Due time) {
        return new OutgoingMessage(topic, payload, time, id, headers, retry, phase);
    }
}
