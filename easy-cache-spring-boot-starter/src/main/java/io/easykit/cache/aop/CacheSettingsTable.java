package io.easykit.cache.aop;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The settings of all caches. Those of a prefix override the annotation, which overrides the defaults.
 *
 * @param keyPrefix prefix of all keys in Redis
 * @param defaults settings of all caches
 * @param caches settings by prefix
 * @param externalPrefixes prefixes cached by other applications; updates may use them here
 */
public record CacheSettingsTable(
        String keyPrefix, CacheSettings defaults, Map<String, CacheSettings> caches, Set<String> externalPrefixes) {

    public CacheSettingsTable {
        caches = Map.copyOf(caches);
        externalPrefixes = Set.copyOf(externalPrefixes);
    }

    /** Returns the pattern of the Redis keys of a cache, for example {@code ec:user::{#id}}. */
    String keyPattern(CacheSpec<?> spec, List<String> keys) {
        return keyPrefix + spec.keyPattern(keys);
    }

    /** @throws io.easykit.cache.InvalidCacheOptionsException if they are invalid */
    CacheOptions options(String prefix, CacheSettings declared) {
        return caches.getOrDefault(prefix, CacheSettings.NONE)
                .over(declared)
                .over(defaults)
                .toOptions();
    }
}
