package io.easykit.delayqueue.admin;

import java.time.Instant;
import java.util.List;

/**
 * All topics at one time.
 *
 * @param now    the store's clock when it was taken
 * @param nodes  number of nodes
 * @param topics in alphabetical order
 */
public record FleetSnapshot(Instant now, int nodes, List<TopicSummary> topics) {

    public FleetSnapshot {
        topics = List.copyOf(topics);
    }
}
