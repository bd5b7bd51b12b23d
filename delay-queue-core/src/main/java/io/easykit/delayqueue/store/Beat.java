package io.easykit.delayqueue.store;

import java.time.Instant;
import java.util.List;

/**
 * The store's reply to a heartbeat.
 *
 * @param now   the store's clock
 * @param first whether no other node that is there now came before this one. Nearly always true for one node of the fleet
 * @param wishes for listeners of this node; also those that it has carried out already
 */
public record Beat(Instant now, boolean first, List<Wish> wishes) {

    /** A reply of a store that keeps no nodes. */
    public static final Beat NONE = new Beat(Instant.EPOCH, false, List.of());

    public Beat {
        wishes = List.copyOf(wishes);
    }

    /**
     * That a listener pauses or resumes. It is obeyed once, so that the application can change its mind afterwards.
     *
     * @param listener id of the listener
     * @param pause    to pause; else to resume
     * @param micros   when, in microseconds of the store's clock; a later wish has a greater number
     * @param by       who wishes it
     */
    public record Wish(String listener, boolean pause, long micros, String by) {

        /** When it was wished, by the store's clock. */
        public Instant at() {
            return Instant.ofEpochMilli(micros / 1000);
        }
    }
}
