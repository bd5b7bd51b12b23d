package io.easykit.cache.engine;

import io.easykit.cache.Availability;
import io.easykit.cache.EasyCache;
import io.easykit.cache.OutboxBacklog;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The part of the cache that is about its Redis servers: their state, start and stop. */
abstract class ClusteredCache implements EasyCache, AutoCloseable {

    private final CacheClusters clusters;

    ClusteredCache(CacheClusters clusters) {
        this.clusters = clusters;
    }

    CacheClusters clusters() {
        return clusters;
    }

    @Override
    public @Nullable Availability availability(String clusterId) {
        CacheCluster cluster = cluster(clusterId);
        return cluster == null ? null : cluster.availability();
    }

    @Override
    public Set<String> clusterIds() {
        return clusters.byId().keySet();
    }

    @Override
    public int undelivered(String clusterId) {
        CacheCluster cluster = cluster(clusterId);
        return cluster == null ? 0 : cluster.pending().size();
    }

    @Override
    public @Nullable OutboxBacklog outboxBacklog(String clusterId) {
        CacheCluster cluster = cluster(clusterId);
        return cluster == null ? null : cluster.outboxBacklog();
    }

    @Nullable CacheCluster cluster(String clusterId) {
        return clusters.byId().get(clusterId);
    }

    /** Starts the recovery workers again after {@link #stop()}; a cache that was built has started. */
    public void start() {
        clusters.all().forEach(CacheCluster::start);
    }

    /** Stops the recovery workers. Reads and updates go on, but nothing recovers. An error of one Redis leaves out no other. */
    public void stop() {
        AllCalls.forEach(clusters.all(), CacheCluster::stop);
    }

    @Override
    public void close() {
        stop();
    }
}
