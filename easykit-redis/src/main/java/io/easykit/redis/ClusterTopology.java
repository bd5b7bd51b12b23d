package io.easykit.redis;

import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.PartitionSelectorException;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The servers of a Redis Cluster, by the present topology of the driver. Without a Redis Cluster there is one server without a name.
 *
 * <p>A master that is new counts as a connection that was made again, whoever has read the topology: the driver also reads it by
 * itself, and may have a connection to a server that was a master before.
 */
final class ClusterTopology {

    private static final String SINGLE = "";

    private static final Logger log = LoggerFactory.getLogger(ClusterTopology.class);

    private static final CompletableFuture<?> THERE = CompletableFuture.completedFuture(null);

    private final LettuceConnectionFactory factory;
    private final SharedConnection connection;
    private final AtomicReference<List<ClusterMaster>> reported = new AtomicReference<>(List.of());

    ClusterTopology(LettuceConnectionFactory factory, SharedConnection connection) {
        this.factory = factory;
        this.connection = connection;
    }

    /** The client of the cluster; null if this is no cluster, or nothing was sent yet. */
    @Nullable RedisClusterClient client() {
        return factory.getNativeClient() instanceof RedisClusterClient cluster ? cluster : null;
    }

    /** Null also if the factory is stopped. Its connection may still be open then, so commands may still arrive. */
    private @Nullable RedisClusterClient clientUnlessStopped() {
        try {
            return client();
        } catch (IllegalStateException stopped) {
            return null;
        }
    }

    /** Names the server of the key. */
    String serverOf(byte[] key) {
        RedisClusterClient cluster = clientUnlessStopped();
        if (cluster == null) {
            return SINGLE;
        }
        RedisClusterNode node = cluster.getPartitions().getPartitionBySlot(SlotHash.getSlot(key));
        return node == null ? SINGLE : node.getNodeId();
    }

    /**
     * The connection over which a command with this key leaves: to the master of the slot in a cluster. Begins to connect if there
     * is none. Completed for a command without a key ({@code {}}), which leaves over the first connection.
     */
    CompletableFuture<?> lineOf(byte[] key, RedisClusterAsyncCommands<byte[], byte[]> commands) {
        if (key.length == 0
                || !(connectionOf(commands) instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster)) {
            return THERE;
        }
        RedisClusterNode master = cluster.getPartitions().getMasterBySlot(SlotHash.getSlot(key));
        try {
            // The driver fails a command of a slot without a master, and reads the topology again.
            return master == null ? THERE : lineTo(master, cluster);
        } catch (RuntimeException closed) {
            return CompletableFuture.failedFuture(closed);
        }
    }

    /** The connection to the master of a key; the only one if this is no cluster. */
    static CompletionStage<StatefulRedisConnection<byte[], byte[]>> onMaster(
            byte[] key, RedisClusterAsyncCommands<byte[], byte[]> commands) {
        StatefulConnection<byte[], byte[]> connection = connectionOf(commands);
        if (connection instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster) {
            RedisClusterNode node = cluster.getPartitions().getMasterBySlot(SlotHash.getSlot(key));
            return node == null
                    ? CompletableFuture.failedFuture(new PartitionSelectorException(
                            "No master serves slot " + SlotHash.getSlot(key), cluster.getPartitions()))
                    : lineTo(node, cluster);
        }
        return CompletableFuture.completedFuture((StatefulRedisConnection<byte[], byte[]>) connection);
    }

    /** The same connection as that of commands for its slots, which is known by its address. */
    private static CompletableFuture<StatefulRedisConnection<byte[], byte[]>> lineTo(
            RedisClusterNode master, StatefulRedisClusterConnection<byte[], byte[]> cluster) {
        return cluster.getConnectionAsync(
                master.getUri().getHost(), master.getUri().getPort());
    }

    @SuppressWarnings("unchecked") // the commands carry bytes, so their connection does
    private static StatefulConnection<byte[], byte[]> connectionOf(RedisClusterAsyncCommands<byte[], byte[]> commands) {
        return ((AbstractRedisAsyncCommands<byte[], byte[]>) commands).getConnection();
    }

    /** The masters that serve slots; empty if this is no cluster, or if there is no connection. Does not block. */
    List<ClusterMaster> masters() {
        RedisClusterClient cluster = clientUnlessStopped();
        if (cluster == null || !connection.isOpen()) {
            return List.of();
        }
        List<ClusterMaster> masters = new ArrayList<>();
        for (RedisClusterNode node : cluster.getPartitions()) {
            BitSet slots = new BitSet(SlotHash.SLOT_COUNT);
            node.forEachSlot(slots::set);
            if (!slots.isEmpty()) {
                String address = node.getUri().getHost() + ":" + node.getUri().getPort();
                masters.add(new ClusterMaster(address, slots));
            }
        }
        reportNew(masters);
        return masters;
    }

    private void reportNew(List<ClusterMaster> masters) {
        List<ClusterMaster> before = reported.getAndSet(masters);
        if (!before.isEmpty()) {
            masters.stream()
                    .filter(master -> !before.contains(master))
                    .forEach(master -> connection.reconnected(master.socketAddress()));
        }
    }

    /**
     * Connects again to one server, in the background. The connections to other servers stay.
     *
     * @param name from {@link #serverOf}
     * @return whether the client can do this; only one of {@link DedicatedConnections} can
     */
    boolean reconnect(RedisClusterClient cluster, String name) {
        RedisClusterNode node = cluster.getPartitions().getPartitionByNodeId(name);
        if (!(cluster instanceof ClusterClient own)) {
            return false;
        }
        if (node != null) {
            var unused = own.reconnect(node.getUri())
                    .whenComplete((found, failure) -> log.debug(
                            "Connections to {} that are silent were closed: {}", node.getUri(), found, failure));
            connection.replaced();
        }
        return true;
    }

    /** Reads the topology again, in the background. */
    void refresh(RedisClusterClient cluster) {
        masters();
        cluster.refreshPartitionsAsync().whenComplete((done, failure) -> {
            if (failure != null) {
                log.debug("The topology of the Redis cluster could not be refreshed", failure);
                return;
            }
            masters();
        });
    }
}
