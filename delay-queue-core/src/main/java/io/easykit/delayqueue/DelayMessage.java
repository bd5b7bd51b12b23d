package io.easykit.delayqueue;

import io.easykit.delayqueue.support.LogText;
import io.easykit.delayqueue.support.NameRules;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message that was delivered to a listener.
 *
 * @param topic          topic of the message
 * @param id             chosen by the sender, or generated; with an ordering key, see {@link DelayQueueTemplate#orderedId}
 * @param payload        decoded payload
 * @param headers        as sent
 * @param due            due time, by the store's clock
 * @param uniqueId       identifies this message in all its attempts. A later message with the same id has another one. Use it as
 *     the key of effects that must happen once
 * @param failures       failed runs so far
 * @param leaseExpirations leases that expired so far, because a node died or paused too long
 * @param releases       deliveries that were handed back without a run
 * @param acknowledgment settles the message, and returns whether this listener has lost it
 */
public record DelayMessage<T>(
        String topic,
        String id,
        T payload,
        Map<String, String> headers,
        Instant due,
        String uniqueId,
        int failures,
        int leaseExpirations,
        int releases,
        Acknowledgment acknowledgment) {

    public DelayMessage {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /** Which run this is, from 1, as failures count; a run whose lease was lost does not. */
    public int attempt() {
        return failures + 1;
    }

    /** Key of messages that run one after the other, or null if its sender gave none. */
    public @Nullable String orderingKey() {
        return NameRules.orderingKey(id);
    }

    /** Without payload and header values: they do not belong in logs. */
    @Override
    public String toString() {
        return "DelayMessage[topic=" + topic + ", id=" + LogText.of(id) + ", payload="
                + payload.getClass().getName() + ", headers=" + LogText.list(List.copyOf(headers.keySet())) + ", due="
                + due
                + ", uniqueId=" + LogText.of(uniqueId) + ", failures=" + failures + ", leaseExpirations="
                + leaseExpirations + ", releases="
                + releases + "]";
    }
}
