package io.easykit.cache.aop;

import io.easykit.cache.CacheOptions;
import java.util.Map;
import java.util.Set;

/**
 * All settings of caches: those of a prefix win over the annotation, and that wins over the defaults.
 *
 * @param defaults of all caches
 * @param caches by prefix
 * @param externalPrefixes prefixes that other applications cache; updates may name them here
 */
public record CacheSettingsTable(
        CacheSettings defaults, Map<String, CacheSettings> caches, Set<String> externalPrefixes) {

    public CacheSettingsTable {
        caches = Map.copyOf(caches);
        externalPrefixes = Set.copyOf(externalPrefixes);
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
