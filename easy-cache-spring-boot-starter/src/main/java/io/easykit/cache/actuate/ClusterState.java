package io.easykit.cache.actuate;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.easykit.boot.DurationTexts;
import io.easykit.boot.EnumWords;
import io.easykit.cache.Availability;
import io.easykit.cache.EasyCache;
import io.easykit.cache.OutboxBacklog;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The state of one Redis for operators.
 *
 * @param state whether readers use it: {@code available} or {@code unavailable}
 * @param forced whether an operator has set the state
 * @param undelivered number of invalidations waiting for it
 * @param outbox its backlog in the outbox; null if this node does not count it
 * @param problems why it is unavailable, or takes no new entries; empty if all is well
 * @param masters state of each master of a cluster, by slots and in their order; empty otherwise
 */
public record ClusterState(
        String state,
        boolean forced,
        int undelivered,
        @Nullable Backlog outbox,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> problems,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, String> masters) {

    /**
     * Rows of the outbox.
     *
     * @param waiting       that were not delivered
     * @param delivered     that were delivered and are kept
     * @param oldestSeconds time since the first waiting one was written; zero if there is none
     */
    record Backlog(long waiting, long delivered, double oldestSeconds) {

        private static @Nullable Backlog of(@Nullable OutboxBacklog backlog) {
            return backlog == null
                    ? null
                    : new Backlog(backlog.waiting(), backlog.delivered(), DurationTexts.seconds(backlog.oldest()));
        }
    }

    static Map<String, ClusterState> all(EasyCache cache) {
        Map<String, ClusterState> all = new TreeMap<>();
        cache.clusterIds().forEach(id -> all.put(id, of(cache, id)));
        return all;
    }

    private static ClusterState of(EasyCache cache, String clusterId) {
        Availability availability = Objects.requireNonNull(cache.availability(clusterId));
        Map<String, String> masters = new LinkedHashMap<>();
        availability.masters().forEach((slots, state) -> masters.put(slots, EnumWords.of(state)));
        return new ClusterState(
                EnumWords.of(availability.state()),
                availability.forced().isPresent(),
                cache.undelivered(clusterId),
                Backlog.of(cache.outboxBacklog(clusterId)),
                availability.problems(),
                masters);
    }

    /** Whether readers use it, and nothing keeps new entries away. */
    boolean complete() {
        return state.equals(EnumWords.of(Availability.State.AVAILABLE)) && problems.isEmpty();
    }
}
