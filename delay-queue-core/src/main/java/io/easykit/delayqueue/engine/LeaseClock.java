package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.QueueStore;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The store's clock, as far as leases end by it. The server that takes over in a fail-over may have a clock that is ahead. By that
 * clock all leases are over, although their messages still run. So after a step ahead the leases end by the clock as it was before,
 * until each consumer has seen the step and has renewed its own. A consumer that starts takes over the last reply of this node in its
 * shard. If there was none it sees no step.
 *
 * <p>For the loop of a consumer only.
 */
final class LeaseClock {

    /**
     * A smaller difference is no step: a clock that is adjusted. After days without a listener this may add up to one, which does no harm:
     * messages of dead nodes come later.
     */
    private static final long LEAST_STEP = TimeUnit.SECONDS.toMillis(1);

    /** Each consumer that claims gets a reply with a time within ten seconds, and renews at once. */
    private static final long SETTLE = TimeUnit.SECONDS.toNanos(12);

    /** Two servers that answer in turn must not keep all leases from ending. */
    private static final long BETWEEN_STEPS = TimeUnit.SECONDS.toNanos(10);

    private final Shared shared;
    private @Nullable Reading last;
    private boolean hasStepped;

    LeaseClock(Shared shared) {
        this.shared = shared;
        this.last = shared.last;
    }

    /** The last reading of a consumer of this node in one shard. */
    static final class Shared {

        private volatile @Nullable Reading last;
    }

    /**
     * A reply, and what leases end by since.
     *
     * @param millis       time in the reply
     * @param asked        when the call began, by this node's clock
     * @param settlesUntil until when leases end by the clock as it was before a step
     * @param leaseMillis  time of the clock by which leases end
     * @param leaseNanos   when it had this time
     */
    private record Reading(long millis, long asked, long settlesUntil, long leaseMillis, long leaseNanos) {}

    /**
     * Takes over an answer.
     *
     * @param asked   when the call began, by this node's clock: a slow answer is no step
     * @param arrived when the answer arrived
     */
    void set(Instant now, long asked, long arrived) {
        long millis = now.toEpochMilli();
        Reading before = last;
        Reading read;
        if (before == null) {
            read = new Reading(millis, asked, arrived - BETWEEN_STEPS, millis, arrived);
        } else {
            long atMost = before.millis + TimeUnit.NANOSECONDS.toMillis(arrived - before.asked);
            boolean steps = millis - atMost > LEAST_STEP;
            hasStepped |= steps;
            boolean isApart = arrived - before.settlesUntil >= BETWEEN_STEPS;
            long settlesUntil = steps && isApart ? arrived + SETTLE : before.settlesUntil;
            read = arrived - settlesUntil >= 0
                    ? new Reading(millis, asked, settlesUntil, millis, arrived)
                    : new Reading(millis, asked, settlesUntil, before.leaseMillis, before.leaseNanos);
        }
        last = read;
        shared.last = read;
    }

    /** The latest time at which a lease may have ended. */
    Instant at(long nanos) {
        Reading read = last;
        return read == null
                ? QueueStore.ANY_END
                : Instant.ofEpochMilli(read.leaseMillis + TimeUnit.NANOSECONDS.toMillis(nanos - read.leaseNanos));
    }

    /** Whether the clock has stepped ahead since the last call. */
    boolean takeStep() {
        boolean stepped = hasStepped;
        hasStepped = false;
        return stepped;
    }
}
