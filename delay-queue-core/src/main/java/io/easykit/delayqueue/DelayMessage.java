package io.easykit.delayqueue;

import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A message in the hands of a listener.
 *
 * @param topic          where it was sent to
 * @param id             own or generated
 * @param payload        decoded
 * @param headers        as sent
 * @param due            when it was due, by the store's clock
 * @param deliveryId     the same for each attempt of this message, another one when its id is sent again: a key for
 *                       handlers that must take effect once
 * @param failures       runs that have failed so far
 * @param leaseExpirations leases that were lost so far, with a node or by a long pause
 * @param releases       deliveries that were handed back without a run
 * @param acknowledgment settles the message, and tells whether it still belongs to this listener
 */
public record DelayMessage<T>(
        String topic,
        String id,
        T payload,
        Map<String, String> headers,
        Instant due,
        String deliveryId,
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

    /** Without payload and header values: they do not belong in logs. */
    @Override
    public String toString() {
        return "DelayMessage[topic=" + topic + ", id=" + LogText.of(id) + ", payload="
                + payload.getClass().getName() + ", headers=" + LogText.list(List.copyOf(headers.keySet())) + ", due="
                + due
                + ", deliveryId=" + LogText.of(deliveryId) + ", failures=" + failures + ", leaseExpirations="
                + leaseExpirations + ", releases="
                + releases + "]";
    }
}
