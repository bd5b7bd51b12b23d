package io.easykit.delayqueue;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A listener: its topic, and how its messages are claimed, run and retried. */
public final class ListenerEndpoint {

    /** Maximum number of messages of one call of a batch handler. */
    public static final int MAX_BATCH_SIZE = 100;

    private static final Duration MIN_LEASE = Duration.ofMillis(100);
    private static final Duration MAX_LEASE = Duration.ofDays(365);
    private static final Duration MAX_STOP_TIMEOUT = Duration.ofDays(365);

    private final String id;
    private final String topic;
    private final Type type;
    private final int concurrency;
    private final int batchSize;
    private final Duration lease;
    private final int maxLost;
    private final Duration lostDelay;
    private final RetryPolicy retry;
    private final List<Class<? extends Throwable>> notRetried;
    private final AckMode ackMode;
    private final Duration stopTimeout;
    private final @Nullable Duration keepDead;
    private final AlertLimits alerts;

    private ListenerEndpoint(Builder builder) {
        this.id = builder.id;
        this.topic = builder.topic;
        this.type = builder.type;
        this.concurrency = builder.concurrency;
        this.batchSize = builder.batchSize;
        this.lease = builder.lease;
        this.maxLost = builder.maxLost;
        this.lostDelay = builder.lostDelay;
        this.retry = builder.retry;
        this.notRetried = List.copyOf(builder.notRetried);
        this.ackMode = builder.ackMode;
        this.stopTimeout = builder.stopTimeout;
        this.keepDead = builder.keepDead;
        this.alerts = builder.alerts;
        check();
    }

    private void check() {
        require(!id.isBlank(), id, "id is blank: give it a name");
        NameRules.requireTopic(topic);
        require(concurrency >= 1, id, "concurrency is " + concurrency + ": give at least 1");
        require(
                batchSize >= 1 && batchSize <= MAX_BATCH_SIZE,
                id,
                "batchSize is " + batchSize + ": give 1 to " + MAX_BATCH_SIZE);
        require(
                lease.compareTo(MIN_LEASE) >= 0 && lease.compareTo(MAX_LEASE) <= 0,
                id,
                "lease is " + lease + ": give 100 ms to 365 days; 30 s is a good one");
        require(maxLost >= 1 && maxLost <= 1_000_000, id, "maxLost is " + maxLost + ": give 1 to 1000000");
        require(RetryPolicy.isPossible(lostDelay), id, "lostDelay is " + lostDelay + ": give zero to 3650 days");
        require(
                !stopTimeout.isNegative() && stopTimeout.compareTo(MAX_STOP_TIMEOUT) <= 0,
                id,
                "stopTimeout is " + stopTimeout + ": give zero to 365 days");
        require(
                keepDead == null || (RetryPolicy.isPossible(keepDead) && !keepDead.isZero()),
                id,
                "keepDead is " + keepDead
                        + ": give more than zero, at most 3650 days, or leave it out to keep dead letters");
        }

    /** A listener with one place, and with the defaults of the builder's methods. */
    public static Builder builder(String id, String topic, Type type) {
        return new Builder(id, topic, type);
    }

    private static void require(boolean holds, String id, String complaint) {
        if (!holds) {
            throw new IllegalArgumentException("Listener '" + id + "': " + complaint + ".");
        }
    }

    /** Of the listener; unique in the application. */
    public String id() {
        return id;
    }

    /** Where from. */
    public String topic() {
        return topic;
    }

    /** Of the payload. */
    public Type type() {
        return type;
    }

    /** Calls of the handler at a time on this node, at least 1. */
    public int concurrency() {
        return concurrency;
    }

    /** Messages of one call, 1 to {@link #MAX_BATCH_SIZE}; more than 1 needs a batch handler. */
    public int batchSize() {
        return batchSize;
    }

    /**
     * For how long a message is this node's; renewed while a handler has it, so it bounds how long the messages of a dead
     * node wait, not how long a handler may run; at least 100 ms.
     */
    public Duration lease() {
        return lease;
    }

    /** Leases that a message may lose before it is dead; the same for all listeners of a topic. */
    public int maxLost() {
        return maxLost;
    }

    /** Wait of a message whose lease was lost; zero for none. */
    public Duration lostDelay() {
        return lostDelay;
    }

    /** Of messages that do not bring their own. */
    public RetryPolicy retry() {
        return retry;
    }

    /** Exceptions, subclasses included, after which a message is dead at once. */
    public List<Class<? extends Throwable>> notRetried() {
        return notRetried;
    }

    /** Who settles messages. */
    public AckMode ackMode() {
        return ackMode;
    }

    /** For handlers to end by themselves when the container stops. */
    public Duration stopTimeout() {
        return stopTimeout;
    }

    /** Age at which dead letters are removed, or null to keep them. */
    public @Nullable Duration keepDead() {
        return keepDead;
    }

    /** Of the topic. */
    public AlertLimits alerts() {
        return alerts;
    }

    /** Builds an endpoint; what each setting means is said there. */
    public static final class Builder {

        private final String id;
        private final String topic;
        private final Type type;
        private int concurrency = 1;
        private int batchSize = 1;
        private Duration lease = Duration.ofSeconds(30);
        private int maxLost = 5;
        private Duration lostDelay = Duration.ZERO;
        private RetryPolicy retry = RetryPolicy.exponential(5, Duration.ofSeconds(1), Duration.ofMinutes(5));
        private List<Class<? extends Throwable>> notRetried = List.of();
        private AckMode ackMode = AckMode.AUTO;
        private Duration stopTimeout = Duration.ofSeconds(20);
        private @Nullable Duration keepDead;
        private AlertLimits alerts = AlertLimits.NONE;

        private Builder(String id, String topic, Type type) {
            this.id = id;
            this.topic = topic;
            this.type = type;
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

        public Builder maxLost(int maxLost) {
            this.maxLost = maxLost;
            return this;
        }

        public Builder lostDelay(Duration lostDelay) {
            this.lostDelay = lostDelay;
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

        public Builder ackMode(AckMode ackMode) {
            this.ackMode = ackMode;
            return this;
        }

        public Builder stopTimeout(Duration stopTimeout) {
            this.stopTimeout = stopTimeout;
            return this;
        }

        public Builder keepDead(@Nullable Duration keepDead) {
            this.keepDead = keepDead;
            return this;
        }

        public Builder alerts(AlertLimits alerts) {
            this.alerts = alerts;
            return this;
        }

        public ListenerEndpoint build() {
            return new ListenerEndpoint(this);
        }
    }
}
