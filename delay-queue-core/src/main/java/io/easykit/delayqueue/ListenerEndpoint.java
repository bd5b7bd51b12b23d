package io.easykit.delayqueue;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a listener listens to, and how.
 *
 * @param id          of the listener; unique in the application
 * @param topic       where from
 * @param type        of the payload
 * @param concurrency calls of the handler at a time on this node, at least 1
 * @param batchSize   messages of one call, 1 to {@link #MAX_BATCH_SIZE}; more than 1 needs a batch handler
 * @param lease       for how long a message is this node's; renewed while a handler has it, so it bounds how long the
 *                    messages of a dead node wait, not how long a handler may run; at least 100 ms
 * @param maxLost     leases that a message may lose before it is dead; the same for all listeners of a topic
 * @param lostDelay   wait of a message whose lease was lost; zero for none
 * @param retry       of messages that do not bring their own
 * @param notRetried  exceptions, subclasses included, after which a message is dead at once
 * @param manual      whether only the {@link Acknowledgment} settles, not the handler's return; what it throws does
 * @param stopTimeout for handlers to end by themselves when the container stops
 * @param keepDead    age at which dead letters are removed, or null to keep them
 * @param alerts      of the topic
 */
public record ListenerEndpoint(
        String id,
        String topic,
        Type type,
        int concurrency,
        int batchSize,
        Duration lease,
        int maxLost,
        Duration lostDelay,
        RetryPolicy retry,
        List<Class<? extends Throwable>> notRetried,
        boolean manual,
        Duration stopTimeout,
        @Nullable Duration keepDead,
        AlertLimits alerts) {

    /** Maximum number of messages of one call of a batch handler. */
    public static final int MAX_BATCH_SIZE = 100;

    private static final Duration MIN_LEASE = Duration.ofMillis(100);
    private static final Duration MAX_LEASE = Duration.ofDays(365);
    private static final Duration MAX_STOP_TIMEOUT = Duration.ofDays(365);

    public ListenerEndpoint {
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
        notRetried = List.copyOf(notRetried);
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
        private boolean manual;
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

        public Builder manual(boolean manual) {
            this.manual = manual;
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
            return new ListenerEndpoint(
                    id,
                    topic,
                    type,
                    concurrency,
                    batchSize,
                    lease,
                    maxLost,
                    lostDelay,
                    retry,
                    notRetried,
                    manual,
                    stopTimeout,
                    keepDead,
                    alerts);
        }
    }
}
