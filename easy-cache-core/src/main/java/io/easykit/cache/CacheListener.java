package io.easykit.cache;

import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Receives the events of the cache, for meters, logs and alarms. Runs on the threads that read and update, so it must be
 * quick. Exceptions are logged and ignored.
 */
public interface CacheListener {

    CacheListener NONE = new CacheListener() {};

    default void onHit(CacheKey<?> key, Hit hit) {}

    /** No value could be returned at once: the caller loads, or waits for a load. */
    default void onMiss(CacheKey<?> key) {}

    /** A reader has waited for the load of another reader, here or on another node, or for an update to end. */
    default void onWait(CacheKey<?> key, Duration waited) {}

    /** A loader has returned or failed. */
    default void onLoad(CacheKey<?> key, Duration took, Load load) {}

    /**
     * An invalidation was acknowledged, or could not be delivered. Called once more if the update of the entry ends a second time, for
     * instance because its action has thrown and may still be carried out.
     *
     * @param failure null if it was acknowledged
     */
    default void onInvalidation(CacheKey<?> key, @Nullable Throwable failure) {}

    /** A Redis cluster was marked unavailable, or is available again; also by an operator. */
    default void onAvailability(String clusterId, Availability.State state) {}

    /**
     * A master of a Redis cluster was marked unavailable, or is available again. The cluster as a whole counts as available only if
     * all masters are.
     *
     * @param slots of the master, for example {@code slots 0-5460}
     */
    default void onMasterAvailability(String clusterId, String slots, Availability.State state) {}

    /**
     * A Redis cluster has other masters, or they have other slots. Masters with former slots are not reported any more.
     *
     * @param slots of the present masters, for example {@code slots 0-5460}; empty if they are not known
     */
    default void onMasters(String clusterId, Set<String> slots) {}

    /** Unreadable bytes were found and removed. */
    default void onUnreadable(CacheKey<?> key) {}

    /**
     * A call of a serial cache has its turn now, or does not run at all. Hits of an idle key need no turn.
     *
     * @param waited zero if it did not wait
     * @param queued how many calls of its key waited when it began to wait, with itself; 0 if it did not wait
     */
    default void onTurn(CacheKey<?> key, Turn turn, Duration waited, int queued) {}

    /** Where a hit came from. */
    enum Hit {
        FRESH,
        /** The near level, without Redis. */
        NEAR,
        /** An invalidated value inside the stale window. */
        STALE,
        /** The local level, while Redis is away. */
        LOCAL,
        /** A value whose TTL is over: the load of a new one has failed, or takes too long. */
        EXPIRED
    }

    /** Result of a load. */
    enum Load {
        STORED,
        /** Not stored, because the entry was invalidated during the load. */
        REJECTED,
        /** Not stored for another reason: inside a transaction, during an update, by a condition, or because Redis was away. */
        NOT_STORED,
        FAILED
    }

    /** Result of the wait for a turn. */
    enum Turn {
        /** It runs: a write alone, a read perhaps with reads that come later. */
        OWN,
        /** A read that shares the turn of an earlier one. */
        MERGED,
        /** It runs at once, outside the order, because it or a call around it could wait for ever. */
        OUTSIDE,
        /** It does not run: its wait has ended. */
        TIMED_OUT,
        /** It does not run: too many calls wait already. */
        REFUSED,
        /** It does not run: its thread was interrupted. */
        INTERRUPTED
    }
}
