package io.easykit.delayqueue.admin;

import io.easykit.delayqueue.AlertLimits;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The numbers of a shard, all read at the same time.
 *
 * @param now       the store's clock
 * @param pause     when and by whom claims were stopped, or null if they are not
 * @param waiting   waiting messages, due ones included
 * @param due       of these, those that are due
 * @param inFlight  messages under a lease
 * @param dead      dead letters
 * @param oldestDue due time of the oldest due message, or null if none is due
 * @param alerts    limits that are reported as exceeded; of the topic, kept in its first shard
 * @param counters  what happened since the shard exists
 * @param parked    messages that were due, and wait behind another one of their ordering key; counted as waiting, not as due
 * @param stoppedKeys ordering keys that a dead letter has stopped; counted among the first thousand or so that are held
 * @param flow      limits of the shard, or null if no consumer has used any for an hour
 */
public record ShardStats(
        Instant now,
        @Nullable Pause pause,
        long waiting,
        long due,
        long inFlight,
        long dead,
        @Nullable Instant oldestDue,
        Set<AlertLimits.Kind> alerts,
        Counters counters,
        long parked,
        long stoppedKeys,
        @Nullable Flow flow) {

    /** A shard without ordering keys and limits. */
    public ShardStats(
            Instant now,
            @Nullable Pause pause,
            long waiting,
            long due,
            long inFlight,
            long dead,
            @Nullable Instant oldestDue,
            Set<AlertLimits.Kind> alerts,
            Counters counters) {
        this(now, pause, waiting, due, inFlight, dead, oldestDue, alerts, counters, 0, 0, null);
    }

    public ShardStats {
        alerts = Set.copyOf(alerts);
    }

    /** Whether limits keep due messages from being claimed. */
    public boolean limited() {
        return flow != null && due > 0 && (flow.lacksPermit() || (flow.places() > 0 && inFlight >= flow.places()));
    }

    /** Whether claims are stopped. */
    public boolean paused() {
        return pause != null;
    }

    /**
     * A pause of claims.
     *
     * @param at when it began, by the store's clock; null if that cannot be read
     * @param by who paused; empty if that is not known
     */
    public record Pause(@Nullable Instant at, String by) {}

    /**
     * The limits of a shard: its share of the limits of the topic, as the last claim used them.
     *
     * @param step    time from one permit to the next; zero for no limit of the rate
     * @param burst   maximum number of unused permits
     * @param permits unused permits now
     * @param places  messages that may be in flight; 0 for no limit
     * @param usedAt  when a permit was last taken, or given back, by the store's clock; null without a limit of the rate
     */
    public record Flow(Duration step, int burst, int permits, int places, @Nullable Instant usedAt) {

        /** Whether the rate lets no message begin now. */
        boolean lacksPermit() {
            return !step.isZero() && permits < 1;
        }

        /** Messages that may begin in a second; 0 for no limit. */
        public double perSecond() {
            return step.isZero() ? 0 : 1e9 / step.toNanos();
        }
    }

    /**
     * Messages sent, minus messages ended, minus messages present: 0, unless keys were changed by hand or evicted, or a script
     * failed half way. A fail-over that loses messages loses their counts with them, so it does not show here.
     */
    public long imbalance() {
        long ended = counters.acknowledged() + counters.cancelled() + counters.purged();
        return counters.sent() - ended - waiting - inFlight - dead;
    }

    /**
     * What happened since the shard exists.
     *
     * @param sent         messages stored
     * @param acknowledged messages done
     * @param failed       runs that failed
     * @param leaseExpirations leases that expired
     * @param dead         deaths
     * @param cancelled    messages cancelled
     * @param redriven     dead letters sent back
     * @param purged       dead letters removed
     */
    public record Counters(
            long sent,
            long acknowledged,
            long failed,
            long leaseExpirations,
            long dead,
            long cancelled,
            long redriven,
            long purged) {}
}
