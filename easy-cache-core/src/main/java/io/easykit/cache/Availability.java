package io.easykit.cache;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Whether one Redis may be called now. Its own behaviour decides, or an operator who forces the state of all of it. */
public interface Availability {

    /** Available only if every partition is. */
    State state();

    /** The state of each partition by its name, if the cluster has several; else empty. */
    Map<String, State> masters();

    /**
     * Why the cluster is unavailable, and what else keeps new entries away, such as a server that is full: a sentence for each
     * partition that has a problem. Found within about a second, also without calls.
     */
    List<String> problems();

    /** The state an operator has set; empty if the cluster's own behaviour decides. */
    Optional<State> forced();

    /**
     * Sets the state until {@link #reset()}, regardless of the circuit breaker. If forced to be available, Redis is read at
     * once, also while invalidations wait for delivery.
     */
    void force(State state);

    /**
     * Lets the cluster's own behaviour decide again. After a forced absence it is unavailable until it has recovered, since
     * invalidations may be waiting for it.
     */
    void reset();

    /** State of a cluster for its readers. */
    enum State {
        AVAILABLE,
        UNAVAILABLE
    }
}
