package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.UnknownClusterException;
import java.util.Collection;
import java.util.Map;

/** Every Redis by its id. */
record CacheClusters(Map<String, CacheCluster> byId) {

    CacheClusters {
        byId = Map.copyOf(byId);
    }

    /**
     * @throws UnknownClusterException if the key's cluster is none of these
     */
    CacheCluster of(CacheKey<?> key) {
        return of(key.spec());
    }

    CacheCluster of(CacheSpec<?> spec) {
        CacheCluster cluster = byId.get(spec.clusterId());
        if (cluster == null) {
            throw new UnknownClusterException(spec.clusterId(), spec.prefix(), byId.keySet());
        }
        return cluster;
    }

    Collection<CacheCluster> all() {
        return byId.values();
    }
}
