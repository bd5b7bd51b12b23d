package io.easykit.delayqueue;

import io.easykit.delayqueue.ListenerEndpoint.DeadKeyPolicy;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.support.NameRules;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Declares a topic in code: its name, and the settings that all its senders and listeners share. A setting that is left out is null
 * here, and is taken from the configuration or the annotation. Settings of one listener, such as its concurrency, are not part of it.
 *
 * <pre>{@code
 * DelayTopic.named("order-close").shards(8).maxLeaseExpirations(3).build()
 * DelayTopic.named("partner-call").rate("50/s").burst(10).maxInFlight(20).build()
 * }</pre>
 */
public final class DelayTopic {

    private static final int MOST_SHARDS = 1024;

    private final String name;
    private final @Nullable Integer shards;
    private final @Nullable Integer maxLeaseExpirations;
    private final @Nullable Duration leaseExpiredDelay;
    private final @Nullable Duration deadLetterRetention;
    private final @Nullable DeadKeyPolicy deadKeyPolicy;
    private final @Nullable ReplicaWait replicaWait;
    private final AlertLimits alerts;
    private final @Nullable Duration noConsumerAlert;
    private final @Nullable String rate;
    private final @Nullable Integer burst;
    private final @Nullable Integer maxInFlight;

    private DelayTopic(Builder settings) {
        this.name = settings.name;
        this.shards = settings.shards;
        this.maxLeaseExpirations = settings.maxLeaseExpirations;
        this.leaseExpiredDelay = settings.leaseExpiredDelay;
        this.deadLetterRetention = settings.deadLetterRetention;
        this.deadKeyPolicy = settings.deadKeyPolicy;
        this.replicaWait = settings.replicaWait;
        this.alerts = settings.alerts;
        this.noConsumerAlert = settings.noConsumerAlert;
        this.rate = settings.rate;
        this.burst = settings.burst;
        this.maxInFlight = settings.maxInFlight;
    }

    /**
     * Begins a topic without settings.
     *
     * @throws IllegalArgumentException if a topic cannot have this name
     */
    public static Builder named(String name) {
        return new Builder(NameRules.requireTopic(name));
    }

    public String name() {
        return name;
    }

    /** Number of shards to have at least. */
    public @Nullable Integer shards() {
        return shards;
    }

    /** Lease expirations after which a message is dead. */
    public @Nullable Integer maxLeaseExpirations() {
        return maxLeaseExpirations;
    }

    /** Delay of a message whose lease has expired. */
    public @Nullable Duration leaseExpiredDelay() {
        return leaseExpiredDelay;
    }

    /** Age at which dead letters are removed. */
    public @Nullable Duration deadLetterRetention() {
        return deadLetterRetention;
    }

    /** What becomes of an ordering key whose message dies. */
    public @Nullable DeadKeyPolicy deadKeyPolicy() {
        return deadKeyPolicy;
    }

    /** Replicas that have to confirm a message. */
    public @Nullable ReplicaWait replicaWait() {
        return replicaWait;
    }

    /** {@link AlertLimits#NONE} if none are given. */
    public AlertLimits alerts() {
        return alerts;
    }

    /** How long messages may be due while no node consumes them. */
    public @Nullable Duration noConsumerAlert() {
        return noConsumerAlert;
    }

    /** How many messages may begin to run in a time, on all nodes together, such as {@code 50/s}, {@code 600/min} or {@code 10/h}. */
    public @Nullable String rate() {
        return rate;
    }

    /** How many messages may begin at once after a quiet time. */
    public @Nullable Integer burst() {
        return burst;
    }

    /** How many messages may be in flight at a time, on all nodes together. */
    public @Nullable Integer maxInFlight() {
        return maxInFlight;
    }

    /** The rate, with its burst, and the messages in flight; {@link FlowLimits#NONE} if none are given. */
    public FlowLimits limits() {
        return FlowLimits.of(rate, burst, maxInFlight);
    }

    @Override
    public String toString() {
        return "DelayTopic[" + name + "]";
    }

    /** Builds a topic. The accessors of {@link DelayTopic} describe the settings. */
    public static final class Builder {

        private final String name;
        private @Nullable Integer shards;
        private @Nullable Integer maxLeaseExpirations;
        private @Nullable Duration leaseExpiredDelay;
        private @Nullable Duration deadLetterRetention;
        private @Nullable DeadKeyPolicy deadKeyPolicy;
        private @Nullable ReplicaWait replicaWait;
        private AlertLimits alerts = AlertLimits.NONE;
        private @Nullable Duration noConsumerAlert;
        private @Nullable String rate;
        private @Nullable Integer burst;
        private @Nullable Integer maxInFlight;

        private Builder(String name) {
            this.name = name;
        }

        public Builder shards(int shards) {
            this.shards = shards;
            return this;
        }

        public Builder maxLeaseExpirations(int maxLeaseExpirations) {
            this.maxLeaseExpirations = maxLeaseExpirations;
            return this;
        }

        public Builder leaseExpiredDelay(Duration leaseExpiredDelay) {
            this.leaseExpiredDelay = leaseExpiredDelay;
            return this;
        }

        public Builder deadLetterRetention(Duration deadLetterRetention) {
            this.deadLetterRetention = deadLetterRetention;
            return this;
        }

        public Builder deadKeyPolicy(DeadKeyPolicy deadKeyPolicy) {
            this.deadKeyPolicy = deadKeyPolicy;
            return this;
        }

        public Builder replicaWait(ReplicaWait replicaWait) {
            this.replicaWait = replicaWait;
            return this;
        }

        public Builder alerts(AlertLimits alerts) {
            this.alerts = alerts;
            return this;
        }

        public Builder noConsumerAlert(Duration noConsumerAlert) {
            this.noConsumerAlert = noConsumerAlert;
            return this;
        }

        public Builder rate(String rate) {
            this.rate = rate;
            return this;
        }

        public Builder burst(int burst) {
            this.burst = burst;
            return this;
        }

        public Builder maxInFlight(int maxInFlight) {
            this.maxInFlight = maxInFlight;
            return this;
        }

        /**
         * Builds the topic.
         *
         * @throws IllegalArgumentException if a value is not possible
         */
        public DelayTopic build() {
            if (shards != null && (shards < 1 || shards > MOST_SHARDS)) {
                throw new IllegalArgumentException(
                        "Topic '" + name + "' is given " + shards + " shards: give it 1 to " + MOST_SHARDS + ".");
            }
            if (noConsumerAlert != null && !RetryPolicy.isPossible(noConsumerAlert)) {
                throw new IllegalArgumentException("Topic '" + name + "' has an alert without consumers after "
                        + noConsumerAlert + ": give zero to 3650 days.");
            }
            checkForListeners();
            checkLimits();
            return new DelayTopic(this);
        }

        private void checkLimits() {
            try {
                FlowLimits.of(rate, burst, maxInFlight);
            } catch (IllegalArgumentException refused) {
                throw new IllegalArgumentException("Topic '" + name + "': " + refused.getMessage(), refused);
            }
            if (shards != null && maxInFlight != null && maxInFlight < shards) {
                throw new IllegalArgumentException("Topic '" + name + "' has maxInFlight " + maxInFlight + " and "
                        + shards + " shards, so some shards could run nothing: give maxInFlight " + shards
                        + " or more, or fewer shards.");
            }
        }

        /** A listener with these values checks them. */
        private void checkForListeners() {
            ListenerEndpoint.Builder listener = ListenerEndpoint.builder(name, name, Object.class);
            if (maxLeaseExpirations != null) {
                listener.maxLeaseExpirations(maxLeaseExpirations);
            }
            if (leaseExpiredDelay != null) {
                listener.leaseExpiredDelay(leaseExpiredDelay);
            }
            listener.deadLetterRetention(deadLetterRetention).build();
        }
    }
}
