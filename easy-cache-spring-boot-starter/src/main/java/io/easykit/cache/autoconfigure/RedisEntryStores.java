package io.easykit.cache.autoconfigure;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.store.EntryStore;
import java.util.LinkedHashMap;
import java.util.Map;

/** The application's own Redis, and the further clusters. */
record RedisEntryStores(RedisConnections own, NamedClusters further) implements EntryStores {

    Map<String, RedisConnections> connections() {
        Map<String, RedisConnections> all = new LinkedHashMap<>();
        all.put(CacheSpec.DEFAULT_CLUSTER, own);
        all.putAll(further.connections());
        return all;
    }

    @Override
    public Map<String, EntryStore> byClusterId() {
        Map<String, EntryStore> stores = new LinkedHashMap<>();
        connections().forEach((id, connections) -> stores.put(id, connections.store()));
        return stores;
    }
}
