package io.easykit.delayqueue.store;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The reply to a claim.
 *
 * @param now          the store's clock
 * @param status       whether there could be messages
 * @param nextDue      due time of the next waiting message, possibly past; null if none waits, or the shard is paused. Later,
 *     or null, if limits keep it: see the status
 * @param nextLeaseEnd end of the first lease, possibly past: time to {@link QueueStore#reap}; null if nothing is in flight
 * @param acknowledged for each lease that the claim acknowledged
 * @param deliveries   the claimed messages
 */
public record Claimed(
        Instant now,
        ClaimStatus status,
        @Nullable Instant nextDue,
        @Nullable Instant nextLeaseEnd,
        List<Settlement> acknowledged,
        List<Delivery> deliveries) {}
