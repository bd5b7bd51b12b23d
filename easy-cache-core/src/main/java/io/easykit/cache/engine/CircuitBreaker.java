package io.easykit.cache.engine;

import io.easykit.cache.Availability;
import io.easykit.cache.Availability.State;
import io.easykit.cache.store.Partitions;
import io.easykit.cache.store.StoreUnavailableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Circuit breaker for one partition of a Redis. Failures of the server are counted in a sliding window. If too many calls
 * failed, the partition is marked unavailable, and no call uses the network, until {@link RecoveryWorker} has probed it and
 * delivered the pending invalidations.
 */
final class CircuitBreaker {

    private static final Logger log = LoggerFactory.getLogger(Availability.class);

    private final Shared shared;
    private final Partitions partitions;
    private final int partition;
    private final SlidingWindow calls;
    private final Repetition repetition = new Repetition();

    private volatile Phase phase;
    private volatile @Nullable String problem;

    /** Shared by the breakers of one Redis. */
    interface Shared {

        String clusterId();

        /** The state that an operator has set; null if the breakers decide. */
        @Nullable State forcedState();

        /** Reports a call that waited behind large values. */
        void delayed(StoreUnavailableException failure);

        /** Reports a call that failed for a reason of its own. */
        void singleFailed(StoreUnavailableException failure);

        /** Changes a breaker and reports the change; does nothing if the breaker was replaced. */
        void change(CircuitBreaker breaker, Runnable change);
    }

    CircuitBreaker(Shared shared, SlidingWindow calls, Partitions partitions, int partition, boolean available) {
        this.shared = shared;
        this.partitions = partitions;
        this.partition = partition;
        this.calls = calls;
        this.phase = available ? Phase.AVAILABLE : Phase.UNAVAILABLE;
    }

    /** Recovering: updates are sent to the store again, but readers do not use it yet. */
    private enum Phase {
        AVAILABLE,
        UNAVAILABLE,
        RECOVERING
    }

    /** For calls that are not let through. */
    static StoreUnavailableException markedUnavailable() {
        return StoreUnavailableException.notCalled("Redis is marked unavailable");
    }

    boolean mayRead() {
        State set = shared.forcedState();
        return set == null ? phase == Phase.AVAILABLE : set == State.AVAILABLE;
    }

    boolean mayWrite() {
        State set = shared.forcedState();
        return set == null ? phase != Phase.UNAVAILABLE : set == State.AVAILABLE;
    }

    State state() {
        return mayRead() ? State.AVAILABLE : State.UNAVAILABLE;
    }

    Partitions partitions() {
        return partitions;
    }

    int partition() {
        return partition;
    }

    String name() {
        return partitions.name(partition);
    }

    /** The repetition of recent invalidations after new connections. */
    Repetition repetition() {
        return repetition;
    }

    /** Why it is unavailable, or what keeps new entries away; null if all is well. */
    @Nullable String problem() {
        return problem;
    }

    /** Records the result of a check of writes; null if all is well. */
    void checked(@Nullable StoreUnavailableException failure) {
        problem = failure == null ? null : failure.getMessage();
    }

    void succeeded() {
        calls.succeeded();
    }

    void failed(StoreUnavailableException failure) {
        if (calls.failed()) {
            unavailable(failure);
        }
    }

    /** A call that waited behind large values counts neither as a success nor as a failure. */
    void delayed(StoreUnavailableException failure) {
        shared.delayed(failure);
    }

    /** A call that failed for a reason of its own: the server is well, and other calls succeed. */
    void singleFailed(StoreUnavailableException failure) {
        calls.succeeded();
        shared.singleFailed(failure);
    }

    /** Marks it unavailable, however many calls have failed. */
    void unavailable(StoreUnavailableException failure) {
        changing(() -> {
            if (phase == Phase.AVAILABLE) {
                log.warn(
                        "Redis {} is marked unavailable: {}. The application goes on without it until it has"
                                + " recovered",
                        describe(),
                        failure.getMessage());
            }
            phase = Phase.UNAVAILABLE;
            problem = failure.getMessage();
        });
    }

    void recovering() {
        changing(() -> {
            calls.clear();
            phase = Phase.RECOVERING;
        });
    }

    /** Ends the recovery, unless it was marked unavailable meanwhile. */
    void recovered() {
        changing(() -> {
            if (phase == Phase.RECOVERING) {
                phase = Phase.AVAILABLE;
                problem = null;
                log.info("Redis {} is available again: all pending invalidations are delivered", describe());
            }
        });
    }

    /** A call that began before the partitions were replaced changes nothing. */
    private void changing(Runnable change) {
        shared.change(this, change);
    }

    /** Called inside a change. */
    void forceUnavailable() {
        phase = Phase.UNAVAILABLE;
    }

    /** {@code 'default'}, or {@code 'default', slots 0-5460 on 10.0.0.1:6379,} where the cluster has several partitions. */
    private String describe() {
        String cluster = "'" + shared.clusterId() + "'";
        if (name().isEmpty()) {
            return cluster;
        }
        String place = partitions.place(partition);
        return cluster + ", " + name() + (place.isEmpty() ? "" : " on " + place) + ",";
    }
}
