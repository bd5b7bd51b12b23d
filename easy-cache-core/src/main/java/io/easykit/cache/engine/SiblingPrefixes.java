package io.easykit.cache.engine;

import io.easykit.cache.CacheSpec;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Prefixes of which entries were updated together with entries that are to be dropped. Their epochs are raised when those are
 * dropped.
 */
final class SiblingPrefixes {

    /** One spec of each prefix, by the hash with the epochs of the entries that are to be dropped. */
    private final Map<Integer, Map<String, CacheSpec<?>>> byHash = new HashMap<>();

    synchronized void add(int hash, CacheSpec<?> sibling) {
        byHash.computeIfAbsent(hash, any -> new LinkedHashMap<>())
                .put(sibling.clusterId() + " " + sibling.prefix(), sibling);
    }

    /** Takes one spec of each prefix. */
    synchronized List<CacheSpec<?>> take(int hash) {
        Map<String, CacheSpec<?>> taken = byHash.remove(hash);
        return taken == null ? List.of() : List.copyOf(taken.values());
    }
}
