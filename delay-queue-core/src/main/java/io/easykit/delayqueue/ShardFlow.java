package io.easykit.delayqueue;

import java.time.Duration;

/**
 * The limits of a shard: its share of those of the topic, as a consumer used them last.
 *
 * @param step    time from one permit to the next; zero for no limit of the rate
 * @param burst   permits that are kept
 * @param permits that are there now
 * @param places  messages that may be in flight; 0 for no limit
 */
public record ShardFlow(Duration step, int burst, int permits, int places) {

    /** Whether the rate lets no message begin now. */
    public boolean lacksPermit() {
        return !step.isZero() && permits < 1;
    }

    /** Messages that may begin in a second; 0 for no limit. */
    public double perSecond() {
        return step.isZero() ? 0 : 1e9 / step.toNanos();
    }
}
