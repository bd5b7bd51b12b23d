package io.easykit.cache;

import java.time.Duration;

/**
 * What happens while a Redis is away.
 *
 * @param localTtl how old a value of the local level may be
 * @param concurrentLoads how many loads may run at a time, so that the database survives; further readers wait
 * @param cpReads what a CP reader gets
 * @param cpUpdates what becomes of a CP update that cannot be announced
 * @param apUpdates what becomes of an AP update that cannot be announced
 * @param maxPendingInvalidations how many keys' undelivered invalidations are remembered one by one; beyond it whole prefixes are
 *     invalidated
 */
public record DegradedOptions(
        Duration localTtl,
        int concurrentLoads,
        CpReads cpReads,
        CpUpdates cpUpdates,
        ApUpdates apUpdates,
        int maxPendingInvalidations) {

    /**
     * @throws InvalidCacheOptionsException if a value makes no sense
     */
    public DegradedOptions {
        if (localTtl.isNegative() || localTtl.isZero()) {
            throw new InvalidCacheOptionsException("local.ttl", "is not above zero", "Choose for example 5s.");
        }
        if (concurrentLoads < 1) {
            throw new InvalidCacheOptionsException(
                    "concurrent-loads", "is " + concurrentLoads, "Choose 1 or more: what the database can bear.");
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

    /** What a CP reader gets. */
    public enum CpReads {
        /** What it loads itself; nothing is cached. */
        BYPASS,
        /** A {@link CacheUnavailableException}. */
        FAIL
    }

    /** What becomes of a CP update that cannot be announced before its commit. */
    public enum CpUpdates {
        /** It fails with a {@link CacheUnavailableException}; a transaction is rolled back. */
        REFUSE,
        /** It goes on. Until its invalidation is delivered other nodes may return the old value. */
        PROCEED
    }

    /** What becomes of an AP update that cannot be announced before its commit. */
    public enum ApUpdates {
        /**
         * It goes on. Other nodes may return the old value until its invalidation is delivered: from the outbox, or, if
         * there is none, when this node reaches Redis again.
         */
        PROCEED,
        /** It fails with a {@link CacheUnavailableException}; a transaction is rolled back. */
        REFUSE
    }

    /** Whether an update of an entry goes on although Redis cannot be told before its commit. */
    public boolean proceeds(Consistency consistency) {
        return consistency == Consistency.CP ? cpUpdates == CpUpdates.PROCEED : apUpdates == ApUpdates.PROCEED;
    }
}
