package io.easykit.cache.aop;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * All settings of caches: those of a prefix win over the annotation, and that wins over the defaults.
 *
 * @param keyPrefix start of every key in Redis
 * @param defaults of all caches
 * @param caches by prefix
 * @param externalPrefixes prefixes that other applications cache; updates may name them here
 */
public record CacheSettingsTable(
        String keyPrefix, CacheSettings defaults, Map<String, CacheSettings> caches, Set<String> externalPrefixes) {

    public CacheSettingsTable {
        caches = Map.copyOf(caches);
        externalPrefixes = Set.copyOf(externalPrefixes);
    }

    /** Shape of the keys of a cache in Redis, for example {@code ec:user::{#id}}. */
    String keyPattern(CacheSpec<?> spec, List<String> keys) {
        return keyPrefix + spec.keyPattern(keys);
    }

    /**
     * @throws io.easykit.cache.InvalidCacheOptionsException if they cannot work
     */
    CacheOptions options(String prefix, CacheSettings declared) {
        return caches.getOrDefault(prefix, CacheSettings.NONE)
                .over(declared)
                .over(defaults)
                .toOptions();
    }
}
