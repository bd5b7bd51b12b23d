package io.easykit.cache;

import java.time.Duration;

/**
 * Behaviour while a Redis is away.
 *
 * @param localTtl maximum age of a value of the local level
 * @param concurrentLoads maximum number of loads at a time, to protect the database; further readers wait
 * @param cpReads behaviour of CP reads
 * @param cpUpdates behaviour of CP updates that cannot be prepared
 * @param apUpdates behaviour of AP updates that cannot be prepared
 * @param maxPendingInvalidations maximum number of keys whose undelivered invalidations are kept one by one; beyond it whole
 *     prefixes are invalidated. Also the maximum number of updates with a clearing that wait for a delivery to end a second time;
 *     beyond it whole prefixes are invalidated
 */
public record DegradedOptions(
        Duration localTtl,
        int concurrentLoads,
        CpReads cpReads,
        CpUpdates cpUpdates,
        ApUpdates apUpdates,
        int maxPendingInvalidations) {

    /** Maximum number of loads at a time. After an outage it is doubled five times, and has to stay an {@code int}. */
    public static final int MAX_CONCURRENT_LOADS = 1_000_000;

    /**
     * @throws InvalidCacheOptionsException if a value makes no sense
     */
    public DegradedOptions {
        if (localTtl.isNegative() || localTtl.isZero()) {
            throw new InvalidCacheOptionsException("local.ttl", "is not above zero", "Choose for example 5s.");
        }
        if (concurrentLoads < 1 || concurrentLoads > MAX_CONCURRENT_LOADS) {
            throw new InvalidCacheOptionsException(
                    "concurrent-loads",
                    "is " + concurrentLoads,
                    "Choose 1 to " + MAX_CONCURRENT_LOADS + ": the queries that the database bears from one instance.");
        }
        if (maxPendingInvalidations < 1) {
            throw new InvalidCacheOptionsException(
                    "max-pending-invalidations", "is " + maxPendingInvalidations, "Choose 1 or more.");
        }
    }

    public static DegradedOptions defaults() {
        return new DegradedOptions(
                Duration.ofSeconds(5), 32, CpReads.BYPASS, CpUpdates.REFUSE, ApUpdates.PROCEED, 10_000);
    }

    public DegradedOptions withLocalTtl(Duration value) {
        return new DegradedOptions(value, concurrentLoads, cpReads, cpUpdates, apUpdates, maxPendingInvalidations);
    }

    /** Behaviour of a CP read. */
    public enum CpReads {
        /** The reader loads the value itself; nothing is cached. */
        BYPASS,
        /** A {@link CacheUnavailableException}. */
        FAIL
    }

    /** Behaviour of a CP update that cannot be prepared before its commit. */
    public enum CpUpdates {
        /** It fails with a {@link CacheUnavailableException}; a transaction is rolled back. */
        REFUSE,
        /** It goes on. Until its invalidation is delivered other nodes may return the old value. */
        PROCEED
    }

    /** Behaviour of an AP update that cannot be prepared before its commit. */
    public enum ApUpdates {
        /**
         * It goes on. Other nodes may return the old value until its invalidation is delivered: from the outbox, or, if
         * there is none, when this node reaches Redis again.
         */
        PROCEED,
        /** It fails with a {@link CacheUnavailableException}; a transaction is rolled back. */
        REFUSE
    }

    /** Behaviour of an update that cannot be prepared in Redis before its commit. */
    public boolean proceeds(Consistency consistency) {
        return consistency == Consistency.CP ? cpUpdates == CpUpdates.PROCEED : apUpdates == ApUpdates.PROCEED;
    }
}
