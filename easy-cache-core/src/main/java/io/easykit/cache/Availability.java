package io.easykit.cache;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Whether one Redis is available. Decided by the circuit breaker, or forced by an operator. */
public interface Availability {

    /** State of the whole Redis: available only if all its masters are. */
    State state();

    /** The state of each master by its slots, if there are several; else empty. */
    Map<String, State> masters();

    /**
     * Reasons why Redis is unavailable, or takes no new entries, such as a server that is full: a sentence for each master with a
     * problem. A problem is found within about a second, also without calls.
     */
    List<String> problems();

    /** The state that an operator has set; empty if the circuit breaker decides. */
    Optional<State> forced();

    /**
     * Forces the state until {@link #reset()}, regardless of the circuit breaker. If it is forced to be available, Redis is read
     * at once, also while invalidations wait for delivery.
     */
    void force(State state);

    /**
     * Lets the circuit breaker decide again. If Redis was forced to be unavailable, it stays so until it has recovered, because
     * invalidations may wait for it.
     */
    void reset();

    /** State of a cluster for its readers. */
    enum State {
        AVAILABLE,
        UNAVAILABLE
    }
}
