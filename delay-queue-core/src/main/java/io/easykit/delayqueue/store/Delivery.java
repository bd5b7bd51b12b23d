package io.easykit.delayqueue.store;

import io.easykit.delayqueue.support.Bytes;
import java.time.Instant;

/**
 * A message that was handed out to a consumer.
 *
 * @param number   of this delivery; unique in the shard
 * @param due      due time
 * @param failures failed runs so far
 * @param leaseExpirations expired leases so far
 * @param releases hand-backs so far
 * @param frame    the {@link NewMessage#frame}, or empty if it was deleted by hand or is left out
 * @param unread   length of a frame that is left out, to be read by {@link QueueInspector#read}; else 0
 */
public record Delivery(
        String id,
        long number,
        Instant due,
        int failures,
        int leaseExpirations,
        int releases,
        Bytes frame,
        int unread) {

    /** A delivery with its frame. */
    public Delivery(
            String id, long number, Instant due, int failures, int leaseExpirations, int releases, Bytes frame) {
        this(id, number, due, failures, leaseExpirations, releases, frame, 0);
    }

    public Lease lease() {
        return new Lease(id, number);
    }
}
