package io.easykit.delayqueue.store;

import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.FlowLimits.Rate;
import io.easykit.delayqueue.admin.ShardStats;
import java.util.concurrent.TimeUnit;

/**
 * The share that a shard has of the limits of its topic. The shares add up to the limits of the topic, except that each shard has a
 * burst and a max-in-flight of at least 1.
 *
 * @param stepMicros time from one permit to the next, in microseconds; 0 for no limit of the rate
 * @param burst      maximum number of unused permits that are kept; 0 without a limit of the rate
 * @param places     maximum number of messages in flight; 0 for no limit
 */
public record FlowShare(long stepMicros, int burst, int places) {

    public static final FlowShare NONE = new FlowShare(0, 0, 0);

    /** The share of one shard. */
    public static FlowShare of(FlowLimits limits, int shard, int shards) {
        Rate rate = limits.rate();
        Integer places = limits.maxInFlight();
        long step = 0;
        int burst = 0;
        if (rate != null) {
            long period = TimeUnit.NANOSECONDS.toMicros(rate.per().toNanos()) * shards;
            step = (period + rate.count() - 1) / rate.count();
            burst = Math.max(1, part(rate.burst(), shard, shards));
        }
        return new FlowShare(step, burst, places == null ? 0 : Math.max(1, part(places, shard, shards)));
    }

    /** The limits that a consumer used last. */
    public static FlowShare of(ShardStats.Flow used) {
        return new FlowShare(TimeUnit.NANOSECONDS.toMicros(used.step().toNanos()), used.burst(), used.places());
    }

    private static int part(int all, int shard, int shards) {
        return all / shards + (shard < all % shards ? 1 : 0);
    }

    public boolean isNone() {
        return stepMicros == 0 && places == 0;
    }
}
