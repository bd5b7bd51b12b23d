package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.QueueStore;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * The store's clock, as far as leases end by it. The server that takes over in a fail-over may have a clock that is ahead. By that
 * clock all leases are over, although their messages still run. So after a step ahead the leases end by the clock as it was before,
 * until each consumer has seen the step and has renewed its own. Without an earlier reply a consumer sees no step.
 *
 * <p>For the loop of a consumer only.
 */
final class LeaseClock {

    /** A smaller difference is no step: a clock that is adjusted. */
    private static final long LEAST_STEP = TimeUnit.SECONDS.toMillis(1);

    /** Each consumer that claims gets a reply with a time within ten seconds, and renews at once. */
    private static final long SETTLE = TimeUnit.SECONDS.toNanos(12);

    /** Two servers that answer in turn must not keep all leases from ending. */
    private static final long BETWEEN_STEPS = TimeUnit.SECONDS.toNanos(10);

    private final StoreClock clock = new StoreClock();
    private boolean hasReply;
    private long lastMillis;
    private long lastAsked;
    private long settlesUntil;
    private boolean hasStepped;

    /** @param now the time, in nanoseconds of a clock that only moves forward */
    LeaseClock(long now) {
        this.settlesUntil = now - BETWEEN_STEPS;
    }

    /**
     * Takes over an answer.
     *
     * @param asked   when the call began, by this node's clock: a slow answer is no step
     * @param arrived when the answer arrived
     */
    void set(Instant now, long asked, long arrived) {
        long millis = now.toEpochMilli();
        long atMost = lastMillis + TimeUnit.NANOSECONDS.toMillis(arrived - lastAsked);
        if (hasReply && millis - atMost > LEAST_STEP) {
            hasStepped = true;
            if (arrived - settlesUntil >= BETWEEN_STEPS) {
                settlesUntil = arrived + SETTLE;
            }
        }
        hasReply = true;
        lastMillis = millis;
        lastAsked = asked;
        if (arrived - settlesUntil >= 0) {
            clock.set(now, arrived);
        }
    }

    /** The latest time at which a lease may have ended. */
    Instant at(long nanos) {
        return hasReply ? clock.at(nanos) : QueueStore.ANY_END;
    }

    /** Whether the clock has stepped ahead since the last call. */
    boolean takeStep() {
        boolean stepped = hasStepped;
        hasStepped = false;
        return stepped;
    }
}
