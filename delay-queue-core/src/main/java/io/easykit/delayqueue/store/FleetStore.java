package io.easykit.delayqueue.store;

import io.easykit.delayqueue.admin.NodeInfo;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The registry of the processes that use a store: topics that were declared, and nodes with their listeners. Best effort: no
 * message depends on it. Errors are those of {@link QueueStore}; each call may be repeated.
 */
public interface FleetStore {

    /** Of a store that keeps nothing. */
    FleetStore NONE = new FleetStore() {
        @Override
        public void addTopics(Map<String, Integer> topics) {}

        @Override
        public SortedMap<String, Integer> topics() {
            return new TreeMap<>();
        }

        @Override
        public Beat beat(String node, NodeReport report, Duration expiry) {
            return Beat.NONE;
        }

        @Override
        public void leave(String node) {}

        @Override
        public List<NodeInfo> nodes() {
            return List.of();
        }

        @Override
        public boolean wish(String node, String listener, boolean pause, String by) {
            return false;
        }
    };

    /** Keeps topics, with their shard counts. */
    void addTopics(Map<String, Integer> topics);

    /** The topics that were kept, with their shard counts. */
    SortedMap<String, Integer> topics();

    /**
     * Keeps the report of a node.
     *
     * @param expiry until the node is forgotten, unless it reports again
     */
    Beat beat(String node, NodeReport report, Duration expiry);

    /** Forgets a node. */
    void leave(String node);

    /** The nodes that are there, in the order in which they came. */
    List<NodeInfo> nodes();

    /**
     * Wishes that a listener of a node pauses or resumes. The node obeys with its next heartbeat.
     *
     * @param pause to pause; else to resume
     * @param by    who wishes it
     * @return false if there is no such node
     */
    boolean wish(String node, String listener, boolean pause, String by);
}
