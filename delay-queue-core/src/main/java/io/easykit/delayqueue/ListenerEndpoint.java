package io.easykit.delayqueue;

import io.easykit.delayqueue.support.DurationText;
import io.easykit.delayqueue.support.NameRules;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A listener: its topic, and how its messages are claimed, run and retried. */
public final class ListenerEndpoint {

    /** Maximum number of messages of one call of a batch handler. */
    public static final int MAX_BATCH_SIZE = 100;

    /** Maximum number of concurrent calls of a handler on one node. The sum over all nodes has to be an {@code int}. */
    public static final int MAX_CONCURRENCY = 100_000;

    private static final Duration MIN_LEASE = Duration.ofMillis(100);
    private static final Duration MAX_LEASE = Duration.ofDays(365);
    private static final Duration MAX_STOP_TIMEOUT = Duration.ofDays(365);

    private final Builder settings;

    private ListenerEndpoint(Builder builder) {
        this.settings = new Builder(builder);
        check();
    }

    private void check() {
        String id = id();
        require(!id.isBlank(), id, "id is blank: give it a name");
        String deadLettersOf = deadLettersOf();
        if (deadLettersOf != null) {
            DeadLetter.requireAnnounceable(id, deadLettersOf);
        }
        NameRules.requireTopic(topic());
        require(
                concurrency() >= 1 && concurrency() <= MAX_CONCURRENCY,
                id,
                "concurrency is " + concurrency() + ": give 1 to " + MAX_CONCURRENCY);
        require(
                batchSize() >= 1 && batchSize() <= MAX_BATCH_SIZE,
                id,
                "batchSize is " + batchSize() + ": give 1 to " + MAX_BATCH_SIZE);
        require(
                lease().compareTo(MIN_LEASE) >= 0 && lease().compareTo(MAX_LEASE) <= 0,
                id,
                "lease is " + DurationText.of(lease()) + ": give 100 ms to 365 days; 30 s is a good one");
        require(
                maxLeaseExpirations() >= 1 && maxLeaseExpirations() <= 1_000_000,
                id,
                "maxLeaseExpirations is " + maxLeaseExpirations() + ": give 1 to 1000000");
        require(
                RetryPolicy.isPossible(leaseExpiredDelay()),
                id,
                "leaseExpiredDelay is " + DurationText.of(leaseExpiredDelay()) + ": give zero to 3650 days");
        require(
                !stopTimeout().isNegative() && stopTimeout().compareTo(MAX_STOP_TIMEOUT) <= 0,
                id,
                "stopTimeout is " + DurationText.of(stopTimeout()) + ": give zero to 365 days");
        Duration retention = deadLetterRetention();
        require(
                retention == null || (RetryPolicy.isPossible(retention) && !retention.isZero()),
                id,
                "deadLetterRetention is " + DurationText.of(retention)
                        + ": give more than zero, at most 3650 days, or leave it out to keep dead letters");
        IdempotencyStore store = idempotencyStore();
        require(
                store == null || (batchSize() == 1 && ackMode() == AckMode.AUTO),
                id,
                "it has an idempotencyStore, and takes batches or settles its messages itself: give it a batch size of 1"
                        + " and AckMode.AUTO");
        Duration kept = store == null ? null : store.retention();
        Duration again = lease().plus(leaseExpiredDelay())
                .multipliedBy(maxLeaseExpirations())
                .plus(retry().longestSum());
        require(
                kept == null || kept.compareTo(again) > 0,
                id,
                "a handled message may come again for " + DurationText.of(Duration.ofMinutes(again.toMinutes() + 1))
                        + " (maxLeaseExpirations times lease and leaseExpiredDelay, and the waits of all retries), and its"
                        + " record is kept for " + DurationText.of(kept) + ": give the records a longer retention");
    }

    /** Begins a listener with a concurrency of 1, and with the defaults of the builder's methods. */
    public static Builder builder(String id, String topic, Type type) {
        return new Builder(id, topic, type, null);
    }

    /**
     * Begins a listener of the dead letters of a topic. Its handler receives a {@link DeadLetter} for each message that dies, at
     * least once. The container announces dead letters to the topic {@link DeadLetter#topicOf}, and listens to that topic.
     *
     * @param topic of the messages, up to 115 characters
     * @param type  of the payloads of these messages
     */
    public static Builder deadLetters(String id, String topic, Type type) {
        return new Builder(id, DeadLetter.topicOf(topic), type, topic);
    }

    private static void require(boolean holds, String id, String complaint) {
        if (!holds) {
            throw new IllegalArgumentException("Listener '" + id + "': " + complaint + ".");
        }
    }

    /** Id of the listener, unique in the application. */
    public String id() {
        return settings.id;
    }

    /** Topic from which messages are received. */
    public String topic() {
        return settings.topic;
    }

    /** Type of the payload. */
    public Type type() {
        return settings.type;
    }

    /** The topic whose dead letters it receives, or null if it receives the messages of its own topic. */
    public @Nullable String deadLettersOf() {
        return settings.deadLettersOf;
    }

    /** Maximum number of concurrent calls of the handler on this node, 1 to {@link #MAX_CONCURRENCY}. */
    public int concurrency() {
        return settings.concurrency;
    }

    /** Maximum number of messages in one call, 1 to {@link #MAX_BATCH_SIZE}; more than 1 needs a batch handler. */
    public int batchSize() {
        return settings.batchSize;
    }

    /**
     * Duration of the lease of a message; at least 100 ms. It is renewed while the handler runs. So it bounds how long the messages
     * of a node that has died wait, not how long a handler may run.
     */
    public Duration lease() {
        return settings.lease;
    }

    /** Number of lease expirations after which a message is dead; the same for all listeners of a topic. */
    public int maxLeaseExpirations() {
        return settings.maxLeaseExpirations;
    }

    /** What becomes of an ordering key whose message dies; the same for all listeners of a topic. */
    public DeadKeyPolicy deadKeyPolicy() {
        return settings.deadKeyPolicy;
    }

    /** What becomes of an ordering key whose message dies. */
    public enum DeadKeyPolicy {
        /** The messages behind it wait until it is redriven and done, purged, or an operator frees the key. */
        STOP,
        /** The next message of the key runs. */
        SKIP
    }

    /** Delay of a message whose lease has expired; zero for none. */
    public Duration leaseExpiredDelay() {
        return settings.leaseExpiredDelay;
    }

    /** Retry policy of messages that were sent without one of their own. */
    public RetryPolicy retry() {
        return settings.retry;
    }

    /** Exceptions, subclasses included, after which a message is dead at once. */
    public List<Class<? extends Throwable>> notRetried() {
        return settings.notRetried;
    }

    /** Decides what follows a failed run. */
    public ErrorHandler errorHandler() {
        return settings.errorHandler;
    }

    /** Who settles messages. */
    public AckMode ackMode() {
        return settings.ackMode;
    }

    /** Time that running handlers get to end by themselves when the container stops. */
    public Duration stopTimeout() {
        return settings.stopTimeout;
    }

    /** Age at which dead letters are removed, or null to keep them. */
    public @Nullable Duration deadLetterRetention() {
        return settings.deadLetterRetention;
    }

    /** Alerts of the topic. */
    public AlertLimits alerts() {
        return settings.alerts;
    }

    /** Limits of the topic, for all nodes together; the same for all its listeners. */
    public FlowLimits limits() {
        return settings.limits;
    }

    /** The same listener with other limits. */
    public ListenerEndpoint withLimits(FlowLimits other) {
        return new Builder(settings).limits(other).build();
    }

    /**
     * Store of the messages that were handled. Null if there is none: then the handler runs again if a message is delivered again.
     * Needs a batch size of 1 and {@link AckMode#AUTO}.
     */
    public @Nullable IdempotencyStore idempotencyStore() {
        return settings.idempotencyStore;
    }

    /** Builds an endpoint. The accessors of {@link ListenerEndpoint} describe the settings. */
    public static final class Builder {

        private final String id;
        private final String topic;
        private final Type type;
        private final @Nullable String deadLettersOf;
        private int concurrency = 1;
        private int batchSize = 1;
        private Duration lease = Duration.ofSeconds(30);
        private int maxLeaseExpirations = 5;
        private DeadKeyPolicy deadKeyPolicy = DeadKeyPolicy.STOP;
        private Duration leaseExpiredDelay = Duration.ZERO;
        private RetryPolicy retry = RetryPolicy.exponential(5, Duration.ofSeconds(1), Duration.ofMinutes(5));
        private List<Class<? extends Throwable>> notRetried = List.of();
        private ErrorHandler errorHandler = ErrorHandler.NONE;
        private AckMode ackMode = AckMode.AUTO;
        private Duration stopTimeout = Duration.ofSeconds(20);
        private @Nullable Duration deadLetterRetention;
        private AlertLimits alerts = AlertLimits.NONE;
        private FlowLimits limits = FlowLimits.NONE;
        private @Nullable IdempotencyStore idempotencyStore;

        private Builder(String id, String topic, Type type, @Nullable String deadLettersOf) {
            this.id = id;
            this.topic = topic;
            this.type = type;
            this.deadLettersOf = deadLettersOf;
        }

        private Builder(Builder other) {
            this(other.id, other.topic, other.type, other.deadLettersOf);
            this.concurrency = other.concurrency;
            this.batchSize = other.batchSize;
            this.lease = other.lease;
            this.maxLeaseExpirations = other.maxLeaseExpirations;
            this.deadKeyPolicy = other.deadKeyPolicy;
            this.leaseExpiredDelay = other.leaseExpiredDelay;
            this.retry = other.retry;
            this.notRetried = List.copyOf(other.notRetried);
            this.errorHandler = other.errorHandler;
            this.ackMode = other.ackMode;
            this.stopTimeout = other.stopTimeout;
            this.deadLetterRetention = other.deadLetterRetention;
            this.alerts = other.alerts;
            this.limits = other.limits;
            this.idempotencyStore = other.idempotencyStore;
        }

        public Builder concurrency(int concurrency) {
            this.concurrency = concurrency;
            return this;
        }

        public Builder batchSize(int batchSize) {
            this.batchSize = batchSize;
            return this;
        }

        public Builder lease(Duration lease) {
            this.lease = lease;
            return this;
        }

        public Builder maxLeaseExpirations(int maxLeaseExpirations) {
            this.maxLeaseExpirations = maxLeaseExpirations;
            return this;
        }

        public Builder deadKeyPolicy(DeadKeyPolicy deadKeyPolicy) {
            this.deadKeyPolicy = deadKeyPolicy;
            return this;
        }

        public Builder leaseExpiredDelay(Duration leaseExpiredDelay) {
            this.leaseExpiredDelay = leaseExpiredDelay;
            return this;
        }

        public Builder retry(RetryPolicy retry) {
            this.retry = retry;
            return this;
        }

        public Builder notRetried(List<Class<? extends Throwable>> notRetried) {
            this.notRetried = notRetried;
            return this;
        }

        public Builder errorHandler(ErrorHandler errorHandler) {
            this.errorHandler = errorHandler;
            return this;
        }

        public Builder ackMode(AckMode ackMode) {
            this.ackMode = ackMode;
            return this;
        }

        public Builder stopTimeout(Duration stopTimeout) {
            this.stopTimeout = stopTimeout;
            return this;
        }

        public Builder deadLetterRetention(@Nullable Duration deadLetterRetention) {
            this.deadLetterRetention = deadLetterRetention;
            return this;
        }

        public Builder alerts(AlertLimits alerts) {
            this.alerts = alerts;
            return this;
        }

        public Builder limits(FlowLimits limits) {
            this.limits = limits;
            return this;
        }

        public Builder idempotencyStore(@Nullable IdempotencyStore idempotencyStore) {
            this.idempotencyStore = idempotencyStore;
            return this;
        }

        public ListenerEndpoint build() {
            return new ListenerEndpoint(this);
        }
    }
}
