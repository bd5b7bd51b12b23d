package io.easykit.delayqueue.store;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a claim.
 *
 * @param now          the store's clock
 * @param status       whether there could be messages
 * @param nextDue      when the next waiting message is due, maybe already; null when none waits, or the shard is paused
 * @param nextLeaseEnd when the first lease ends, maybe already: time to {@link QueueStore#reap}; null when nothing is in flight
 * @param acknowledged for each lease that the claim acknowledged
 * @param deliveries   what was handed out
 */
public record Claimed(
        Instant now,
        ClaimStatus status,
        @Nullable Instant nextDue,
        @Nullable Instant nextLeaseEnd,
        List<Settlement> acknowledged,
        List<Delivery> deliveries) {}
