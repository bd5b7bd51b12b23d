package io.easykit.delayqueue.store;

import io.easykit.delayqueue.Bytes;
import io.easykit.delayqueue.MessageInfo;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message as it lies in the store, for a look at it.
 *
 * @param id         its id
 * @param state      where it is
 * @param at         when it is due, when its lease ends, or when it died, by state
 * @param history    what happened to it since it was first claimed, or null if it never was
 * @param firstError of its failures, or null
 * @param lastError  of its failures, or null
 * @param frame      the encoded envelope of the engine, or null if somebody deleted it
 * @param damage     what cannot be read of it, in words, or null; the fields concerned are null then
 */
public record StoredMessage(
        String id,
        MessageInfo.State state,
        Instant at,
        @Nullable History history,
        MessageInfo.@Nullable ErrorNote firstError,
        MessageInfo.@Nullable ErrorNote lastError,
        @Nullable Bytes frame,
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
        this(id, state, at, history, firstError, lastError, frame, null);
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
}
