package io.easykit.console.queue;

import io.easykit.console.Caller;
import io.easykit.console.ConsoleApi;
import io.easykit.console.Input;
import io.easykit.console.Refusal;
import io.easykit.delayqueue.actuate.QueueViews;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.admin.NodeInfo;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The nodes of the delay queue in the console, and the pauses of topics and listeners. */
public final class FleetApi implements ConsoleApi {

    private static final int MAX_NAME = 200;

    private final FleetAdmin fleet;
    private final QueueViews views = new QueueViews(Instant::toEpochMilli);

    public FleetApi(FleetAdmin fleet) {
        this.fleet = fleet;
    }

    @Override
    public Set<String> features() {
        return Set.of("nodes");
    }

    @Override
    public Map<String, Read> reads() {
        return Map.of("nodes", StoreErrors.explained((request, caller) -> nodes()));
    }

    @Override
    public Map<String, Change> changes() {
        Map<String, Change> changes = Map.of(
                "pause", (input, caller) -> planned(input, caller, true),
                "resume", (input, caller) -> planned(input, caller, false));
        return StoreErrors.explained(changes);
    }

    private Map<String, Object> nodes() {
        Map<String, Object> reply = new LinkedHashMap<>();
        reply.put("nodes", fleet.nodes().stream().map(this::node).toList());
        return reply;
    }

    private Map<String, Object> node(NodeInfo info) {
        Map<String, Object> shown = views.node(info);
        shown.put("self", info.id().equals(fleet.thisNode()));
        return shown;
    }

    private Planned planned(Input input, Caller caller, boolean stop) {
        String topic = input.text("topic");
        String by = caller.name().substring(0, Math.min(MAX_NAME, caller.name().length()));
        if (topic != null) {
            return new Planned(topic, List.of(), "on all nodes", () -> {
                if (stop) {
                    fleet.requireUsed(topic);
                }
                int shards = stop ? fleet.pause(topic, by) : fleet.resume(topic);
                if (shards == 0) {
                    fleet.requireUsed(topic); // a topic that was paused before its first use can be resumed
                }
                return Done.of(Map.of("changedShards", shards));
            });
        }
        String listener = input.required("listener");
        String where = input.required("node");
        return new Planned(listener, List.of(), "on node " + where, () -> {
            requireRuns(where, listener);
            boolean known = stop ? fleet.pauseListener(where, listener, by) : fleet.resumeListener(where, listener, by);
            if (!known) {
                throw new Refusal(404, "There is no such node any more.", "Load the list of nodes again.");
            }
            return Done.nothing();
        });
    }

    /**
     * A change of a listener that the node does not run would have no effect. Beyond about 600 listeners a node reports the others
     * without names, so then any name is taken.
     */
    private void requireRuns(String node, String listener) {
        for (NodeInfo info : fleet.nodes()) {
            Set<String> ids = new TreeSet<>();
            info.listeners().forEach(one -> ids.add(one.id()));
            boolean namesAll = !ids.contains("");
            if (info.id().equals(node) && namesAll && !ids.contains(listener)) {
                throw new Refusal(
                        404,
                        "Node '" + node + "' runs no listener '" + listener + "'.",
                        "Check the name. Listeners that it runs: " + ids);
            }
        }
    }
}
