package io.easykit.delayqueue;

import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.LogText;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message in the store.
 *
 * @param topic      where it was sent to
 * @param id         own or generated
 * @param state      whether it waits, is in flight, or is dead
 * @param at         when it is due, when its lease ends, or when it died, by state
 * @param failures   runs that failed since the send or the last redrive
 * @param leaseExpirations leases that expired since the send or the last redrive
 * @param releases   deliveries that were handed back without a run
 * @param owner      node that claimed it last, or null if it was never claimed
 * @param firstError first failure, or null
 * @param lastError  latest failure, or null
 * @param headers    as sent; empty if they cannot be read
 * @param body       encoded payload, or null if it was deleted or cannot be read
 * @param damage     what of the message cannot be read, in words, or null
 */
public record MessageInfo(
        String topic,
        String id,
        State state,
        Instant at,
        int failures,
        int leaseExpirations,
        int releases,
        @Nullable String owner,
        @Nullable ErrorNote firstError,
        @Nullable ErrorNote lastError,
        Map<String, String> headers,
        @Nullable Bytes body,
        @Nullable String damage) {

    public MessageInfo {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /**
     * Returns when the message died. With the id it names one dead letter for redrive and purge.
     *
     * @throws IllegalStateException if the message is not dead
     */
    public Instant diedAt() {
        if (state != State.DEAD) {
            throw new IllegalStateException("Message '" + LogText.of(id) + "' is not dead, but " + state + ".");
        }
        return at;
    }

    /** Without header values: they do not belong in logs. */
    @Override
    public String toString() {
        return "MessageInfo[topic=" + topic + ", id=" + LogText.of(id) + ", state=" + state + ", at=" + at
                + ", failures="
                + failures + ", leaseExpirations=" + leaseExpirations + ", releases=" + releases + ", headers="
                + LogText.list(List.copyOf(headers.keySet())) + ", body=" + body + "]";
    }

    /** The three states of a live message. */
    public enum State {
        WAITING,
        IN_FLIGHT,
        DEAD
    }

    /**
     * One failure of a message.
     *
     * @param at    when the failure was noted, by the store's clock
     * @param owner node that had the message
     * @param text  exception of the handler, or {@link #LEASE_LOST} or {@link #BODY_MISSING}; at most 4,096 bytes
     */
    public record ErrorNote(Instant at, String owner, String text) {

        /** The reason of a death by lost leases. */
        public static final String LEASE_LOST = "LEASE_LOST";

        /** The reason of a death because the body was not there. */
        public static final String BODY_MISSING = "BODY_MISSING";
    }
}
