package io.easykit.cache.admin;

import io.easykit.cache.Availability.State;
import io.easykit.cache.OutboxBacklog;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One Redis cluster as this node sees it.
 *
 * @param state       whether readers of this node use it
 * @param forced      the state that an operator has set; null if the circuit breakers decide
 * @param undelivered number of invalidations of this node that wait for it; a prefix as a whole counts as one
 * @param outbox      its backlog in the outbox; null if this node does not count it
 * @param problems    why it is unavailable, or takes no new entries; empty if all is well
 * @param masters     the state of each master, by slots; empty if there is only one
 */
public record ClusterInfo(
        String id,
        State state,
        @Nullable State forced,
        int undelivered,
        @Nullable OutboxBacklog outbox,
        List<String> problems,
        Map<String, State> masters) {

    public ClusterInfo {
        problems = List.copyOf(problems);
    }
}
