package io.easykit.delayqueue.store;

import io.easykit.delayqueue.SendOutcome;
import java.util.List;

/**
 * The reply to a send that waits for replicas.
 *
 * @param outcomes of the messages, in the order of the call
 * @param replicas how many replicas have confirmed all of them
 */
public record Replicated(List<SendOutcome> outcomes, int replicas) {

    public Replicated {
        outcomes = List.copyOf(outcomes);
    }
}
