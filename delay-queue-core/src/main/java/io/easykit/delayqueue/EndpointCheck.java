package io.easykit.delayqueue;

import java.time.Duration;

/** Checks the settings of a listener. */
final class EndpointCheck {

    private static final Duration MIN_LEASE = Duration.ofMillis(100);
    private static final Duration MAX_LEASE = Duration.ofDays(365);
    private static final Duration MAX_STOP_TIMEOUT = Duration.ofDays(365);

    private EndpointCheck() {}

    /** @throws IllegalArgumentException if a setting is invalid, or two contradict each other */
    static void check(ListenerEndpoint endpoint) {
        String id = endpoint.id();
        String topic = endpoint.topic();
        String deadLettersOf = endpoint.deadLettersOf();
        Duration deadLetterRetention = endpoint.deadLetterRetention();
        IdempotencyStore idempotencyStore = endpoint.idempotencyStore();
        require(!id.isBlank(), id, "id is blank: give it a name");
        if (deadLettersOf != null) {
            NameRules.requireTopic(deadLettersOf);
            require(
                    topic.length() <= 128,
                    id,
                    "topic '" + deadLettersOf
                            + "' is too long for the topic of its announcements: give at most 115 characters");
        }
        NameRules.requireTopic(topic);
        require(
                deadLettersOf == null || !DeadLetter.isAnnouncement(deadLettersOf),
                id,
                "topic '" + deadLettersOf
                        + "' is that of announced dead letters, and dead letters of it are not announced: give"
                        + " another topic");
        require(endpoint.concurrency() >= 1, id, "concurrency is " + endpoint.concurrency() + ": give at least 1");
        require(
                endpoint.batchSize() >= 1 && endpoint.batchSize() <= ListenerEndpoint.MAX_BATCH_SIZE,
                id,
                "batchSize is " + endpoint.batchSize() + ": give 1 to " + ListenerEndpoint.MAX_BATCH_SIZE);
        require(
                endpoint.lease().compareTo(MIN_LEASE) >= 0 && endpoint.lease().compareTo(MAX_LEASE) <= 0,
                id,
                "lease is " + endpoint.lease() + ": give 100 ms to 365 days; 30 s is a good one");
        require(
                endpoint.maxLeaseExpirations() >= 1 && endpoint.maxLeaseExpirations() <= 1_000_000,
                id,
                "maxLeaseExpirations is " + endpoint.maxLeaseExpirations() + ": give 1 to 1000000");
        require(
                RetryPolicy.isPossible(endpoint.leaseExpiredDelay()),
                id,
                "leaseExpiredDelay is " + endpoint.leaseExpiredDelay() + ": give zero to 3650 days");
        require(
                !endpoint.stopTimeout().isNegative() && endpoint.stopTimeout().compareTo(MAX_STOP_TIMEOUT) <= 0,
                id,
                "stopTimeout is " + endpoint.stopTimeout() + ": give zero to 365 days");
        require(
                deadLetterRetention == null
                        || (RetryPolicy.isPossible(deadLetterRetention) && !deadLetterRetention.isZero()),
                id,
                "deadLetterRetention is " + deadLetterRetention
                        + ": give more than zero, at most 3650 days, or leave it out to keep dead letters");
        require(
                idempotencyStore == null || (endpoint.batchSize() == 1 && endpoint.ackMode() == AckMode.AUTO),
                id,
                "it has an idempotencyStore, and takes batches or settles its messages itself: give it a batch size of 1"
                        + " and AckMode.AUTO");
        Duration kept = idempotencyStore == null ? null : idempotencyStore.retention();
        Duration again = endpoint.lease()
                .plus(endpoint.leaseExpiredDelay())
                .multipliedBy(endpoint.maxLeaseExpirations())
                .plus(endpoint.retry().longestSum());
        require(
                kept == null || kept.compareTo(again) > 0,
                id,
                "a handled message may come again for " + again + ", the sum of maxLeaseExpirations times lease and"
                        + " leaseExpiredDelay and of all waits of the retry policy, and its record is kept for " + kept
                        + ": give the records a longer retention");
    }

    private static void require(boolean holds, String id, String complaint) {
        if (!holds) {
            throw new IllegalArgumentException("Listener '" + id + "': " + complaint + ".");
        }
    }
}
