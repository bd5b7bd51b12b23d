package io.easykit.delayqueue.store;

import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.support.Bytes;
import java.time.Instant;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A message as it is stored, for administration.
 *
 * @param id         its id
 * @param state      its place
 * @param at         due time, end of its lease, or time of its death, by state
 * @param history    counts and times since it was first claimed, or null if it never was
 * @param firstError of its failures, or null
 * @param lastError  of its failures, or null
 * @param frame      the encoded envelope of the engine or its beginning, or null if it was deleted by hand
 * @param size       bytes of the whole frame; 0 if it was deleted by hand
 * @param damage     text about unreadable parts, or null; the fields concerned are null then
 */
public record StoredMessage(
        String id,
        MessageInfo.State state,
        Instant at,
        @Nullable History history,
        MessageInfo.@Nullable ErrorNote firstError,
        MessageInfo.@Nullable ErrorNote lastError,
        @Nullable Bytes frame,
        int size,
        @Nullable String damage) {

    /** A message of which everything can be read. */
    public StoredMessage(
            String id,
            MessageInfo.State state,
            Instant at,
            @Nullable History history,
            MessageInfo.@Nullable ErrorNote firstError,
            MessageInfo.@Nullable ErrorNote lastError,
            @Nullable Bytes frame) {
        this(id, state, at, history, firstError, lastError, frame, frame == null ? 0 : frame.length(), null);
    }

    /** The same message with a frame of at most so many bytes. */
    public StoredMessage cutAfter(int bytes) {
        return frame == null || frame.length() <= bytes
                ? this
                : new StoredMessage(
                        id,
                        state,
                        at,
                        history,
                        firstError,
                        lastError,
                        Bytes.of(Arrays.copyOf(frame.array(), bytes)),
                        size,
                        damage);
    }

    /**
     * What happened to a message since it was first claimed.
     *
     * @param number   of the last delivery
     * @param failures since the send or the last redrive
     * @param leaseExpirations leases that expired, since the send or the last redrive
     * @param releases deliveries that were handed back
     * @param due      when the last delivery was due, or the next one is
     * @param owner    who had it last
     */
    public record History(long number, int failures, int leaseExpirations, int releases, Instant due, String owner) {}
}
