package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.AlertLimits;
import io.easykit.delayqueue.DelayTopic;
import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.ListenerEndpoint.DeadKeyPolicy;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.RetryPolicy;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Settings of one topic, or the defaults of all topics. A setting that is not set is null.
 *
 * @param shards Number of shards of the topic, 1 to 1024. Stored in Redis. A greater number later adds shards. By default the
 *     stored number applies, or 1 for a new topic.
 * @param concurrency Maximum number of calls of a listener's method at a time on each node, 1 to 100000.
 * @param lease Time for which a delivered message is reserved for its node, from 100ms to 365d. Renewed while the
 *     method runs. It limits how long the messages of a crashed node wait, not how long a method may take.
 * @param maxAttempts Number of failed runs after which a message becomes a dead letter, 1 or more.
 * @param maxLeaseExpirations Number of expired leases, for example of crashed nodes, after which a message becomes a dead letter, 1
 *     to 1000000. Must be equal on all listeners of a topic.
 * @param leaseExpiredDelay Delay of a message after its lease expired, from 0s to 3650d.
 * @param backOff Delay between two runs of a message.
 * @param noRetryFor Exception classes, including their subclasses, after which a message becomes a dead letter at once.
 *     By default every exception is retried.
 * @param deadLetterRetention Age at which dead letters are removed, up to 3650d. By default they are kept forever.
 * @param waitForReplicas Number of replicas that have to confirm a message when it is sent, 0 to 100. By default a send waits
 *     for none.
 * @param replicaTimeout Maximum time for a send to wait for its replicas, from 1ms to 1m. A message that too few replicas
 *     have confirmed by then is stored nevertheless.
 * @param idempotent Whether a listener's method runs once for each message, in a transaction with the record of the message.
 *     By default it runs again if a message is delivered again.
 * @param deadKeyPolicy What becomes of an ordering key when one of its messages becomes a dead letter. "stop" keeps the messages
 *     behind it waiting until it is redriven or purged, or the key is freed. "skip" continues with the next one.
 * @param alerts Limits that raise an alert when they are exceeded.
 * @param rate Number of messages that may begin to run in a second, a minute or an hour, retries included, on all nodes together,
 *     such as 50/s, 600/min or 10/h, up to 10000/s. By default there is no limit.
 * @param burst Number of messages that may begin at once after a quiet time, if the topic has a rate, 1 to 100000. By default those
 *     of a tenth of a second, and at least 1.
 * @param maxInFlight Maximum number of messages in flight at a time, on all nodes together, from the number of shards to 1000000. By
 *     default there is no limit.
 */
public record TopicSettings(
        @Nullable Integer shards,
        @Nullable Integer concurrency,
        @Nullable Duration lease,
        @Nullable Integer maxAttempts,
        @Nullable Integer maxLeaseExpirations,
        @Nullable Duration leaseExpiredDelay,
        @Nullable BackOff backOff,
        @Nullable List<Class<?>> noRetryFor,
        @Nullable Duration deadLetterRetention,
        @Nullable Integer waitForReplicas,
        @Nullable Duration replicaTimeout,
        @Nullable Boolean idempotent,
        @Nullable DeadKeyPolicy deadKeyPolicy,
        @Nullable Alerts alerts,
        @Nullable String rate,
        @Nullable Integer burst,
        @Nullable Integer maxInFlight) {

    public static final TopicSettings NONE = new TopicSettings(
            null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);

    public TopicSettings {
        if (noRetryFor != null) {
            noRetryFor = List.copyOf(noRetryFor);
        }
    }

    /** Returns the settings of a declared topic. */
    static TopicSettings of(DelayTopic topic) {
        AlertLimits limits = topic.alerts();
        ReplicaWait wait = topic.replicaWait();
        return new TopicSettings(
                topic.shards(),
                null,
                null,
                null,
                topic.maxLeaseExpirations(),
                topic.leaseExpiredDelay(),
                null,
                null,
                topic.deadLetterRetention(),
                wait == null ? null : wait.replicas(),
                wait == null ? null : wait.timeout(),
                null,
                topic.deadKeyPolicy(),
                new Alerts(
                        limits.maxLateness(),
                        limits.due(),
                        limits.dead(),
                        limits.waiting(),
                        limits.failing(),
                        topic.noConsumerAlert()),
                topic.rate(),
                topic.burst(),
                topic.maxInFlight());
    }

    /**
     * Checks each setting separately.
     *
     * @throws InvalidTopicSettingsException if one is invalid, regardless of the others
     */
    public void check() {
        TopicSettingsCheck.of(this);
    }

    /** Whether a limit of the flow is set. */
    boolean hasLimits() {
        return rate != null || burst != null || maxInFlight != null;
    }

    /** Returns these settings, and the other's for those that are not set here. */
    TopicSettings over(TopicSettings other) {
        return new TopicSettings(
                first(shards, other.shards),
                first(concurrency, other.concurrency),
                first(lease, other.lease),
                first(maxAttempts, other.maxAttempts),
                first(maxLeaseExpirations, other.maxLeaseExpirations),
                first(leaseExpiredDelay, other.leaseExpiredDelay),
                backOffOrNone().over(other.backOffOrNone()),
                first(noRetryFor, other.noRetryFor),
                first(deadLetterRetention, other.deadLetterRetention),
                first(waitForReplicas, other.waitForReplicas),
                first(replicaTimeout, other.replicaTimeout),
                first(idempotent, other.idempotent),
                first(deadKeyPolicy, other.deadKeyPolicy),
                alertsOrNone().over(other.alertsOrNone()),
                first(rate, other.rate),
                first(burst, other.burst),
                first(maxInFlight, other.maxInFlight));
    }

    /**
     * Applies the settings to an endpoint. Those that are not set keep the endpoint's values.
     *
     * @throws IllegalArgumentException if a value is invalid
     */
    void applyTo(ListenerEndpoint.Builder endpoint, RetryPolicy otherwise) {
        ifSet(concurrency, endpoint::concurrency);
        ifSet(lease, endpoint::lease);
        ifSet(maxLeaseExpirations, endpoint::maxLeaseExpirations);
        ifSet(leaseExpiredDelay, endpoint::leaseExpiredDelay);
        ifSet(deadLetterRetention, endpoint::deadLetterRetention);
        ifSet(deadKeyPolicy, endpoint::deadKeyPolicy);
        endpoint.retry(backOffOrNone().toPolicy(maxAttempts, otherwise));
        endpoint.alerts(alertsOrNone().toLimits());
        endpoint.limits(limits());
        if (noRetryFor != null) {
            endpoint.notRetried(noRetryFor.stream()
                    .<Class<? extends Throwable>>map(type -> type.asSubclass(Throwable.class))
                    .toList());
        }
    }

    /** @throws IllegalArgumentException if a value is invalid, or there is a burst without a rate */
    FlowLimits limits() {
        return FlowLimits.of(rate, burst, maxInFlight);
    }

    /** Null if a send waits for no replicas. */
    @Nullable ReplicaWait replicaWait() {
        return waitForReplicas == null || waitForReplicas == 0
                ? null
                : new ReplicaWait(waitForReplicas, or(replicaTimeout, ReplicaWait.DEFAULT_TIMEOUT));
    }

    /** Null if nothing is checked. */
    @Nullable Duration noConsumer() {
        return alertsOrNone().noConsumer();
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
     * The delay between two runs of a message.
     *
     * @param delay Delay after the first failure, from 0s to 3650d.
     * @param multiplier Factor from one delay to the next, from 1 to 1000. 1 means a fixed delay.
     * @param maxDelay Maximum delay, up to 3650d.
     * @param jitter Random share of the delay, from 0 to 1. With 0.2 a delay is 80 to 100 percent of its full length.
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
            // A first delay longer than the default maximum raises the maximum, which was not set explicitly.
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
     * Limits that raise an alert when they are exceeded.
     *
     * @param maxLateness Maximum age of the oldest due message that no listener has claimed, from 0s to 3650d. By default
     *     there is no limit.
     * @param due Maximum number of due messages that no listener has claimed, 0 or more. By default there is no limit.
     * @param dead Maximum number of dead letters, 0 or more. By default there is no limit.
     * @param waiting Maximum number of waiting messages, including those of the far future, 0 or more. By default there
     *     is no limit.
     * @param failing Maximum share of runs that fail, from 0 to 1, of at least 20 runs in five minutes. By default there is
     *     no limit.
     * @param noConsumer Maximum time for which messages are due while no node consumes them, from 0s to 3650d. Nodes that
     *     only send check it too. By default there is no limit.
     */
    public record Alerts(
            @Nullable Duration maxLateness,
            @Nullable Long due,
            @Nullable Long dead,
            @Nullable Long waiting,
            @Nullable Double failing,
            @Nullable Duration noConsumer) {

        static final Alerts NONE = new Alerts(null, null, null, null, null, null);

        Alerts over(Alerts other) {
            return new Alerts(
                    first(maxLateness, other.maxLateness),
                    first(due, other.due),
                    first(dead, other.dead),
                    first(waiting, other.waiting),
                    first(failing, other.failing),
                    first(noConsumer, other.noConsumer));
        }

        AlertLimits toLimits() {
            return new AlertLimits(maxLateness, due, dead, waiting, failing);
        }
    }
}
