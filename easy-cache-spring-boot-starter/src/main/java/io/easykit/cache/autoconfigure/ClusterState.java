package io.easykit.cache.autoconfigure;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.easykit.cache.Availability;
import io.easykit.cache.Availability.State;
import io.easykit.cache.EasyCache;
import io.easykit.cache.OutboxBacklog;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The state of one Redis for operators.
 *
 * @param state whether readers use it
 * @param forced whether an operator has set the state
 * @param undelivered number of invalidations waiting for it
 * @param outbox its backlog in the outbox; null if this node does not count it
 * @param problems why it is unavailable, or takes no new entries; empty if all is well
 * @param masters state of each master of a cluster, by slots; empty otherwise
 */
record ClusterState(
        State state,
        boolean forced,
        int undelivered,
        @Nullable OutboxBacklog outbox,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> problems,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, State> masters) {

    static Map<String, ClusterState> all(EasyCache cache) {
        Map<String, ClusterState> all = new TreeMap<>();
        cache.clusterIds().forEach(id -> all.put(id, of(cache, id)));
        return all;
    }

    private static ClusterState of(EasyCache cache, String clusterId) {
        Availability availability = Objects.requireNonNull(cache.availability(clusterId));
        return new ClusterState(
                availability.state(),
                availability.forced().isPresent(),
                cache.undelivered(clusterId),
                cache.outboxBacklog(clusterId),
                availability.problems(),
                availability.masters());
    }
}
