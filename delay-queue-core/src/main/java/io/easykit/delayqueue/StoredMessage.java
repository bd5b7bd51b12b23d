package io.easykit.delayqueue;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message as it lies in the store, for a look at it.
 *
 * @param id         its id
 * @param place      where it is
 * @param at         when it is due, when its lease ends, or when it died, by place
 * @param history    what happened to it since it was first claimed, or null if it never was
 * @param firstError of its failures, or null
 * @param lastError  of its failures, or null
 * @param frame      the encoded {@link Envelope}, or null if somebody deleted it
 * @param damage     what cannot be read of it, in words, or null; the fields concerned are null then
 */
public record StoredMessage(
        String id,
        Place place,
        Instant at,
        @Nullable History history,
        @Nullable ErrorNote firstError,
        @Nullable ErrorNote lastError,
        @Nullable Bytes frame,
        @Nullable String damage) {

    /** A message of which everything can be read. */
    public StoredMessage(
            String id,
            Place place,
            Instant at,
            @Nullable History history,
            @Nullable ErrorNote firstError,
            @Nullable ErrorNote lastError,
            @Nullable Bytes frame) {
        this(id, place, at, history, firstError, lastError, frame, null);
    }

    /** The three places of a live message. */
    public enum Place {
        WAITING,
        IN_FLIGHT,
        DEAD
    }

    /**
     * What happened to a message since it was first claimed.
     *
     * @param number   of the last delivery
     * @param failures since the send or the last redrive
     * @param lost     leases that expired, since the send or the last redrive
     * @param releases deliveries that were handed back
     * @param due      when the last delivery was due, or the next one is
     * @param owner    who had it last
     */
    public record History(long number, int failures, int lost, int releases, Instant due, String owner) {}

    /**
     * One failure of a message.
     *
     * @param at    when the failure was noted, by the store's clock
     * @param owner who had the message
     * @param text  what the handler's side says, or {@link #LEASE_LOST} or {@link #BODY_MISSING}; at most 4,096 bytes
     */
    public record ErrorNote(Instant at, String owner, String text) {

        /** The reason of a death by lost leases. */
        public static final String LEASE_LOST = "LEASE_LOST";

        /** The reason of a death because the body was not there. */
        public static final String BODY_MISSING = "BODY_MISSING";
    }
}
