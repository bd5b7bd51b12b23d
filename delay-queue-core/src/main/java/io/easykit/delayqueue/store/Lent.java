package io.easykit.delayqueue.store;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The reply of a shard to a request for permits it does not need.
 *
 * @param now     the store's clock
 * @param permits number of permits that were taken from that shard
 * @param next    when there are further ones, or null while that shard has due messages itself
 */
public record Lent(Instant now, int permits, @Nullable Instant next) {

    /** How long permits may be used after they were taken. So a node that stands still does not use them much later. */
    public static final long LAPSE_MILLIS = 100;
}
