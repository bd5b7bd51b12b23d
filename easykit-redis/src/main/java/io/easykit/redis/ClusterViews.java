package io.easykit.redis;

import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.models.partitions.ClusterPartitionParser;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode.NodeFlag;
import java.util.Collection;
import java.util.Comparator;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Views of a cluster: what its servers reply to {@code CLUSTER NODES}. */
final class ClusterViews {

    private static final int NO_SLOTS = -1;

    private ClusterViews() {}

    /**
     * Returns the latest of some views: the one with the highest configuration epoch. A replica that is promoted, and a master that
     * takes over a slot, have a higher epoch than all before. Epochs of another cluster mean nothing here, so its views are left out.
     *
     * @param replies of one server each
     * @param known the present topology; its addresses are used for servers that return none for themselves
     * @param filter servers that the application wants to use
     * @return null if no view of this cluster has a server with slots. That of a server that was removed from its cluster has none
     */
    static @Nullable Partitions latest(
            Collection<String> replies, Partitions known, Predicate<RedisClusterNode> filter) {
        return replies.stream()
                .filter(reply -> !isForeign(reply, known))
                .map(reply -> view(reply, known, filter))
                .filter(view -> epoch(view) != NO_SLOTS)
                .max(Comparator.comparingLong(ClusterViews::epoch).thenComparingInt(Partitions::size))
                .orElse(null);
    }

    /**
     * Whether a view with slots is that of another cluster, one of whose servers has got the address of a former server of this one.
     * A view of this cluster contains half of the known servers, or consists mainly of these if many were removed. A cluster whose
     * servers are all replaced, or get new ids, changes in several steps.
     */
    static boolean isForeign(String reply, Partitions known) {
        Partitions view = ClusterPartitionParser.parse(reply);
        long common = view.stream()
                .filter(node -> known.getPartitionByNodeId(node.getNodeId()) != null)
                .count();
        return epoch(view) != NO_SLOTS && 2 * common < known.size() && 2 * common <= view.size();
    }

    private static long epoch(Partitions view) {
        return view.stream()
                .filter(node -> !node.hasNoSlots())
                .mapToLong(RedisClusterNode::getConfigEpoch)
                .max()
                .orElse(NO_SLOTS);
    }

    private static Partitions view(String reply, Partitions known, Predicate<RedisClusterNode> filter) {
        Partitions view = new Partitions();
        for (RedisClusterNode node : ClusterPartitionParser.parse(reply)) {
            RedisClusterNode before = known.getPartitionByNodeId(node.getNodeId());
            RedisURI address = address(node.getUri(), before, known);
            if (address == null || node.is(NodeFlag.NOADDR)) {
                continue;
            }
            node.setUri(address);
            if (before != null) {
                before.getAliases().forEach(node::addAlias);
            }
            if (filter.test(node)) {
                view.add(node);
            }
        }
        view.updateCache();
        return view;
    }

    /** The settings of an address, such as its time-out, are those of the addresses before. */
    private static @Nullable RedisURI address(
            @Nullable RedisURI given, @Nullable RedisClusterNode before, Partitions known) {
        if (given == null || given.getHost() == null || given.getHost().isEmpty() || given.getPort() == 0) {
            return before == null ? null : before.getUri();
        }
        if (before != null && isSame(given, before.getUri())) {
            return before.getUri();
        }
        return RedisURI.builder(known.getPartition(0).getUri())
                .withHost(given.getHost())
                .withPort(given.getPort())
                .build();
    }

    private static boolean isSame(RedisURI one, RedisURI other) {
        return one.getPort() == other.getPort() && one.getHost().equals(other.getHost());
    }
}
