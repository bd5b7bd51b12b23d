package io.easykit.delayqueue.store;

import java.time.Instant;
import java.util.List;

/**
 * The store's reply to a heartbeat.
 *
 * @param now   the store's clock
 * @param first whether no other node that is there now came before this one. Nearly always true for one node of the fleet
 * @param pauseRequests for listeners of this node; also those that it has applied already
 */
public record Beat(Instant now, boolean first, List<PauseRequest> pauseRequests) {

    /** A reply of a store that keeps no nodes. */
    public static final Beat NONE = new Beat(Instant.EPOCH, false, List.of());

    public Beat {
        pauseRequests = List.copyOf(pauseRequests);
    }

    /**
     * The request of an operator that a listener pauses or resumes. It is applied once, so that the application can resume or pause
     * the listener afterwards.
     *
     * @param listener id of the listener
     * @param pause    to pause; else to resume
     * @param micros   when, in microseconds of the store's clock; a later request has a greater number
     * @param by       the operator
     */
    public record PauseRequest(String listener, boolean pause, long micros, String by) {

        /** Time of the request, by the store's clock. */
        public Instant at() {
            return Instant.ofEpochMilli(micros / 1000);
        }
    }
}
