package io.easykit.cache.aop;

import static io.easykit.cache.CacheOptions.text;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.SerialOptions;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.store.Outbox;

/**
 * Describes the maximum staleness of a cache for the log.
 *
 * @param degraded options while Redis is unavailable
 * @param outbox whether other nodes deliver invalidations of a node without Redis
 */
public record Staleness(DegradedOptions degraded, boolean outbox) {

    /** @param updatedByResult whether keys are known only after the method that updates them */
    String describe(CacheSpec<?> spec, boolean updatedByResult) {
        CacheOptions options = spec.options();
        return options.consistency()
                + (spec.valueTtl() == null ? ", ttl " : ", ttl of each value, at most ")
                + text(options.ttl()) + ", " + worst(options)
                + (updatedByResult ? lateKeys(options) : "")
                + (options.staleOnError() == null ? "" : expired(options.staleOnError()))
                + (options.serial() == null ? "" : serial(options.serial()));
    }

    private static String expired(StaleOnErrorOptions options) {
        return "; an expired value, never an invalidated one, for " + text(options.keptFor())
                + " more if its load fails"
                + (options.loadSoftTimeout().isZero()
                        ? ""
                        : " or takes longer than " + text(options.loadSoftTimeout()));
    }

    private static String serial(SerialOptions options) {
        return "; reads and updates of one key run in order of arrival in this JVM (turn within "
                + text(options.maxWait()) + ", at most " + options.maxQueue() + " waiting)";
    }

    /** Describes when an update of all entries takes effect. */
    static String describeClearing(CacheSpec<?> spec) {
        String which = spec.prefix() + " on " + spec.clusterId() + ", ";
        return spec.options().consistency() == Consistency.CP
                ? which + "and returns 2 s after its commit, when no node returns an older value"
                : which + "other nodes follow within a probe interval";
    }

    private String worst(CacheOptions options) {
        if (options.consistency() == Consistency.CP) {
            return "never stale (not stored for " + text(options.updateLease())
                    + " after a crash of an updater), except"
                    + failover(options)
                    + (degraded.cpUpdates() == DegradedOptions.CpUpdates.REFUSE ? "" : ", and " + untold(options));
        }
        return "worst staleness " + text(options.worstStaleness()) + " while every node reaches Redis ("
                + (isNear(options) ? "near-ttl " + text(options.nearTtl()) + "; " : "") + text(options.updateLease())
                + " after a crash of an updater, +" + text(degraded.localTtl())
                + " while Redis is away; "
                + (degraded.apUpdates() == DegradedOptions.ApUpdates.REFUSE
                        ? "updates on a node without Redis are refused"
                        : untold(options))
                + ";" + failover(options) + ")";
    }

    /** Replication is asynchronous, and a client cannot determine whether a server has replicas. */
    private static String failover(CacheOptions options) {
        return " after a fail-over of Redis that lost the update: until its node has repeated it, or the ttl of "
                + text(options.ttl()) + " if that node died" + near(options);
    }

    private String untold(CacheOptions options) {
        return "after an update on a node without Redis: "
                + (outbox
                        ? text(Outbox.MAX_DELAY) + " through the outbox"
                        : "until that node reaches it again, or the ttl of " + text(options.ttl())
                                + " if it dies before")
                + near(options);
    }

    /** A near level may have read the old value just before it was removed from Redis, and an expired value may be returned. */
    private static String near(CacheOptions options) {
        return (isNear(options) ? ", plus the near-ttl of " + text(options.nearTtl()) : "")
                + (options.staleOnError() == null
                        ? ""
                        : ", plus the stale-on-error of " + text(options.keptPastEnd()) + " while its loads fail");
    }

    private static boolean isNear(CacheOptions options) {
        return !options.nearTtl().isZero();
    }

    private static String lateKeys(CacheOptions options) {
        return "; without a transaction around the method, keys over #result are invalidated when it returns,"
                + " or after the"
                + " ttl of " + text(options.ttl()) + " if the node dies between commit and return";
    }
}
