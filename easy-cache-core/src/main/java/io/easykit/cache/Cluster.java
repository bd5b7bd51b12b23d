package io.easykit.cache;

import java.util.Map;

/** What belongs to one Redis. */
record Cluster(String id, EntryStore store, LocalEntries local, CacheReader reader) {

    static Cluster of(Map<String, Cluster> clusters, CacheKey<?> key) {
        Cluster cluster = clusters.get(key.spec().clusterId());
        if (cluster == null) {
            throw new UnknownClusterException(key.spec().clusterId(), key.spec().prefix(), clusters.keySet());
        }
        return cluster;
    }
}
