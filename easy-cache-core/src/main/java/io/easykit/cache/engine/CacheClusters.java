package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.UnknownClusterException;
import io.easykit.cache.store.EntryStore;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiFunction;

/** Every Redis by its id. */
record CacheClusters(Map<String, CacheCluster> byId) {

    CacheClusters {
        byId = Map.copyOf(byId);
    }

    /** One for each store. Keys of one update may lie in several of them. */
    static CacheClusters of(Map<String, EntryStore> stores, BiFunction<String, EntryStore, CacheCluster> cluster) {
        Map<String, CacheCluster> byId = new LinkedHashMap<>();
        stores.forEach((id, store) -> byId.put(id, cluster.apply(id, store)));
        CacheClusters all = new CacheClusters(byId);
        byId.values().forEach(one -> one.join(all::of));
        return all;
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
