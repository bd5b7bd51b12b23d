package io.easykit.delayqueue.store;

import io.easykit.delayqueue.admin.FleetSnapshot;
import io.easykit.delayqueue.admin.NodeInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The registry of the processes that use a store: topics that were declared, and nodes with their listeners. Best effort: no
 * message depends on it. Errors are those of {@link QueueStore}; each call may be repeated.
 */
public interface FleetStore {

    /** Of a store that keeps nothing. */
    FleetStore NONE = new FleetStore() {
        @Override
        public void addTopics(Map<String, Integer> topics, boolean areOld) {}

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
        public boolean requestPause(String node, String listener, boolean pause, String by) {
            return false;
        }

        @Override
        public boolean sample(ShardKey shard) {
            return false;
        }

        @Override
        public Samples samples(ShardKey shard, Duration range) {
            return new Samples(Instant.EPOCH, List.of());
        }

        @Override
        public SharedSnapshot sharedSnapshot(Duration pause) {
            return new SharedSnapshot(true, null);
        }

        @Override
        public void shareSnapshot(FleetSnapshot snapshot, Duration pause) {}
    };

    /**
     * Keeps topics, with their shard counts.
     *
     * @param areOld the counts were read long ago and may have changed, so they are kept only of topics that have none
     */
    void addTopics(Map<String, Integer> topics, boolean areOld);

    /** Keeps topics, with shard counts that were just read. */
    default void addTopics(Map<String, Integer> topics) {
        addTopics(topics, false);
    }

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
     * Stores the request that a listener of a node pauses or resumes. The node applies it with its next heartbeat. A request that a
     * silent node may still come back for can be replaced.
     *
     * @param pause to pause; else to resume
     * @param by    the operator
     * @return false if there is no such node, and no kept request for this listener of it
     */
    boolean requestPause(String node, String listener, boolean pause, String by);

    /** Takes a sample of a shard, unless there is one of this minute. Samples are kept for a day. True if it was taken. */
    boolean sample(ShardKey shard);

    /**
     * The samples of a shard.
     *
     * @param range how far back, at most 24 hours
     */
    Samples samples(ShardKey shard, Duration range);

    /**
     * The snapshot that another node has taken, unless it is this node's turn to take one.
     *
     * @param pause if it is, for how long no other node takes one
     */
    SharedSnapshot sharedSnapshot(Duration pause);

    /**
     * Shares a snapshot with the other nodes.
     *
     * @param pause for how long no other node takes one
     */
    void shareSnapshot(FleetSnapshot snapshot, Duration pause);

    /**
     * The store's reply to a node that needs a snapshot.
     *
     * @param take whether the node is to take one
     * @param last the last one; null if there is none
     */
    record SharedSnapshot(boolean take, @Nullable FleetSnapshot last) {}
}
