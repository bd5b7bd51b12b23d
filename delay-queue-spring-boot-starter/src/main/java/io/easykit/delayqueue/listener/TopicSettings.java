package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.AlertLimits;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.RetryPolicy;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Settings of one topic, or of all; what is not set is null.
 *
 * @param shards number of shards of the topic. Fixed at first use; those who leave it out follow Redis, where it is kept
 * @param concurrency messages handled at a time by one node
 * @param lease for how long a message is a node's; renewed while it is handled
 * @param maxAttempts runs that may fail before a message is dead
 * @param maxLost leases that a message may lose, as when its node dies, before it is dead
 * @param lostDelay wait of a message whose lease was lost
 * @param backOff wait between two runs
 * @param noRetryFor exceptions, subclasses included, after which a message is dead at once
 * @param keepDead age at which dead letters are removed; without it they are kept
 * @param alerts what calls for attention
 */
public record TopicSettings(
        @Nullable Integer shards,
        @Nullable Integer concurrency,
        @Nullable Duration lease,
        @Nullable Integer maxAttempts,
        @Nullable Integer maxLost,
        @Nullable Duration lostDelay,
        @Nullable BackOff backOff,
        @Nullable List<Class<?>> noRetryFor,
        @Nullable Duration keepDead,
        @Nullable Alerts alerts) {

    public static final TopicSettings NONE =
            new TopicSettings(null, null, null, null, null, null, null, null, null, null);

    public TopicSettings {
        if (noRetryFor != null) {
            noRetryFor = List.copyOf(noRetryFor);
        }
    }

    /**
     * Checks each setting alone.
     *
     * @throws InvalidTopicSettingsException if one cannot work, whatever the others are
     */
    public void check() {
        TopicSettingsCheck.of(this);
    }

    /** These settings, and where one is not set, the other's. */
    TopicSettings over(TopicSettings other) {
        return new TopicSettings(
                first(shards, other.shards),
                first(concurrency, other.concurrency),
                first(lease, other.lease),
                first(maxAttempts, other.maxAttempts),
                first(maxLost, other.maxLost),
                first(lostDelay, other.lostDelay),
                backOffOrNone().over(other.backOffOrNone()),
                first(noRetryFor, other.noRetryFor),
                first(keepDead, other.keepDead),
                alertsOrNone().over(other.alertsOrNone()));
    }

    /**
     * Gives an endpoint what is set here, and leaves it the rest.
     *
     * @throws IllegalArgumentException if it cannot work
     */
    void applyTo(ListenerEndpoint.Builder endpoint, RetryPolicy otherwise) {
        ifSet(concurrency, endpoint::concurrency);
        ifSet(lease, endpoint::lease);
        ifSet(maxLost, endpoint::maxLost);
        ifSet(lostDelay, endpoint::lostDelay);
        ifSet(keepDead, endpoint::keepDead);
        endpoint.retry(backOffOrNone().toPolicy(maxAttempts, otherwise));
        endpoint.alerts(alertsOrNone().toLimits());
        if (noRetryFor != null) {
            endpoint.notRetried(noRetryFor.stream()
                    .<Class<? extends Throwable>>map(type -> type.asSubclass(Throwable.class))
                    .toList());
        }
    }

    private BackOff backOffOrNone() {
        return backOff == null ? BackOff.NONE : backOff;
    }

    private Alerts alertsOrNone() {
        return alerts == null ? Alerts.NONE : alerts;
    }

    private static <T> void ifSet(@Nullable T value, Consumer<T> setter) {
        if (value != null) {
            setter.accept(value);
        }
    }

    private static <T> @Nullable T first(@Nullable T one, @Nullable T other) {
        return one != null ? one : other;
    }

    private static <T> T or(@Nullable T value, T otherwise) {
        return value != null ? value : otherwise;
    }

    /**
     * The wait between two runs of a message.
     *
     * @param delay wait after the first failure
     * @param multiplier factor from one wait to the next, at least 1
     * @param maxDelay the longest wait
     * @param jitter share of the wait that is random, from 0 to 1
     */
    public record BackOff(
            @Nullable Duration delay,
            @Nullable Double multiplier,
            @Nullable Duration maxDelay,
            @Nullable Double jitter) {

        static final BackOff NONE = new BackOff(null, null, null, null);

        BackOff over(BackOff other) {
            return new BackOff(
                    first(delay, other.delay),
                    first(multiplier, other.multiplier),
                    first(maxDelay, other.maxDelay),
                    first(jitter, other.jitter));
        }

        RetryPolicy toPolicy(@Nullable Integer maxAttempts, RetryPolicy otherwise) {
            Duration first = or(delay, otherwise.firstDelay());
            // Who asks for a longer first wait than the longest by default has not asked for that one.
            Duration longest = first.compareTo(otherwise.maxDelay()) > 0 ? first : otherwise.maxDelay();
            return new RetryPolicy(
                    or(maxAttempts, otherwise.maxAttempts()),
                    first,
                    or(multiplier, otherwise.multiplier()),
                    or(maxDelay, longest),
                    or(jitter, otherwise.jitter()));
        }
    }

    /**
     * What calls for attention when it is exceeded.
     *
     * @param oldestDue age of the oldest message that is due and not taken
     * @param due messages that are due and not taken
     * @param dead dead letters
     * @param waiting messages that wait, those of the far future included
     */
    public record Alerts(
            @Nullable Duration oldestDue, @Nullable Long due, @Nullable Long dead, @Nullable Long waiting) {

        static final Alerts NONE = new Alerts(null, null, null, null);

        Alerts over(Alerts other) {
            return new Alerts(
                    first(oldestDue, other.oldestDue),
                    first(due, other.due),
                    first(dead, other.dead),
                    first(waiting, other.waiting));
        }

        AlertLimits toLimits() {
            return new AlertLimits(oldestDue, due, dead, waiting);
        }
    }
}
