package io.easykit.delayqueue.store;

import io.easykit.delayqueue.Bytes;
import java.time.Instant;

/**
 * A message in the hands of one consumer.
 *
 * @param number   of this delivery; unique in the shard
 * @param due      when it was due
 * @param failures so far
 * @param lost     leases lost so far
 * @param releases so far
 * @param frame    what {@link NewMessage#frame} was, or empty if somebody deleted it or it is left out
 * @param unread   length of a frame that is left out, to be read by {@link QueueInspector#read}; else 0
 */
public record Delivery(
        String id, long number, Instant due, int failures, int lost, int releases, Bytes frame, int unread) {

    /** A delivery with its frame. */
    public Delivery(String id, long number, Instant due, int failures, int lost, int releases, Bytes frame) {
        this(id, number, due, failures, lost, releases, frame, 0);
    }

    public Lease lease() {
        return new Lease(id, number);
    }
}
