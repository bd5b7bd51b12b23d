package io.easykit.delayqueue.store;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a reap.
 *
 * @param nextLeaseEnd when the next lease ends, or null when nothing is in flight
 */
public record Reaped(Instant now, @Nullable Instant nextLeaseEnd, List<LostLease> lost) {}
