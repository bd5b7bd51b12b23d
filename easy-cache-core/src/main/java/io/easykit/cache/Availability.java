package io.easykit.cache;

import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The decision maker of one Redis: may it be asked now?
 *
 * <p>Calls that fail because the server is ill are counted in a sliding window. When too many of them failed, the
 * cluster is marked unavailable: from then on no call touches a socket. {@link ClusterKeeper} probes it, brings what
 * was not delivered, and marks it available again. An operator can force either state.
 */
public final class Availability {

    private static final Logger log = LoggerFactory.getLogger(Availability.class);

    private final String clusterId;
    private final CallWindow calls;
    private final Consumer<State> onChange;

    private final RareLine delayLine;
    private final RareLine singleLine;

    private volatile Phase phase = Phase.AVAILABLE;
    private volatile @Nullable State forced;

    Availability(String clusterId, AvailabilityOptions options, Ticker ticker, Consumer<State> onChange) {
        this.clusterId = clusterId;
        this.calls = new CallWindow(options, ticker);
        this.onChange = onChange;
        this.delayLine = new RareLine(ticker);
        this.singleLine = new RareLine(ticker);
    }

    /** What a cluster is to its readers. */
    public enum State {
        AVAILABLE,
        UNAVAILABLE
    }

    /** Between the two stands the recovery: updates are told to the store again, but readers do not ask it yet. */
    private enum Phase {
        AVAILABLE,
        UNAVAILABLE,
        RECOVERING
    }

    public State state() {
        return mayRead() ? State.AVAILABLE : State.UNAVAILABLE;
    }

    /** The state an operator has set; empty if the cluster's own behaviour decides. */
    public Optional<State> forced() {
        return Optional.ofNullable(forced);
    }

    /**
     * Sets the state, whatever the cluster does, until {@link #release()}. Forced to be available, it is read at once,
     * also while invalidations wait for it.
     */
    public void force(State state) {
        changing(() -> {
            forced = state;
            if (state == State.UNAVAILABLE) {
                phase = Phase.UNAVAILABLE;
            }
        });
    }

    /**
     * Lets the cluster's own behaviour decide again. After a forced absence it is unavailable until it has recovered, since
     * invalidations may be waiting for it.
     */
    public void release() {
        changing(() -> forced = null);
    }

    boolean mayRead() {
        State set = forced;
        return set == null ? phase == Phase.AVAILABLE : set == State.AVAILABLE;
    }

    boolean mayWrite() {
        State set = forced;
        return set == null ? phase != Phase.UNAVAILABLE : set == State.AVAILABLE;
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
        if (delayLine.isDue()) {
            log.warn(
                    "Calls of Redis cluster '{}' go on without the cache: {}. Cache smaller values, or raise the command"
                            + " timeout. Logged once a minute",
                    clusterId,
                    failure.getMessage());
        }
    }

    /** A call that failed for a reason of its own: the server is well, and other calls succeed. */
    void singleFailed(StoreUnavailableException failure) {
        calls.succeeded();
        if (!(failure.getCause() instanceof InterruptedException) && singleLine.isDue()) {
            log.warn(
                    "A call of Redis cluster '{}' failed, and goes on without the cache: {}. Such keys are not cached, and"
                            + " CP updates of them are refused. If permission for keys is missing, allow ~<key-prefix>* to"
                            + " the user of this connection. Logged once a minute",
                    clusterId,
                    failure.getMessage());
        }
    }

    /** Marks it unavailable, however many calls have failed. */
    void unavailable(StoreUnavailableException failure) {
        changing(() -> {
            if (phase == Phase.AVAILABLE) {
                log.warn("Redis cluster '{}' is marked unavailable: {}", clusterId, failure.getMessage());
            }
            phase = Phase.UNAVAILABLE;
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
                log.info("Redis cluster '{}' is available again", clusterId);
            }
        });
    }

    private void changing(Runnable change) {
        State before;
        State after;
        synchronized (this) {
            before = state();
            change.run();
            after = state();
        }
        if (before != after) {
            onChange.accept(after);
        }
    }
}
