package io.easykit.cache.aop;

import io.easykit.boot.SettingChecks;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.admin.CacheDeclaration;
import io.easykit.cache.admin.CacheDeclaration.Setting;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

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

    private static final Pattern HYPHEN = Pattern.compile("-(.)");

    public CacheSettingsTable {
        caches = Map.copyOf(caches);
        externalPrefixes = Set.copyOf(externalPrefixes);
    }

    /** Returns the pattern of the Redis keys of a cache, for example {@code ec:user::{#id}}. */
    String keyPattern(CacheSpec<?> spec, List<String> keys) {
        return keyPrefix + spec.keyPattern(keys);
    }

    /**
     * Lists the settings of a cache as they are in force, with their sources.
     *
     * @param declared those of the annotation
     */
    List<Setting> inForce(CacheSpec<?> spec, CacheSettings declared) {
        CacheSettings own = caches.getOrDefault(spec.prefix(), CacheSettings.NONE);
        return CacheDeclaration.settings(spec.options(), name -> {
            if (own.isSet(name)) {
                return SettingChecks.element("easy-cache.caches", spec.prefix()) + "." + name;
            }
            if (declared.isSet(name)) {
                return "@Cacheable "
                        + HYPHEN.matcher(name).replaceAll(next -> next.group(1).toUpperCase(Locale.ROOT));
            }
            return defaults.isSet(name) ? "easy-cache.defaults." + name : "default";
        });
    }

    /** @throws io.easykit.cache.InvalidCacheOptionsException if they are invalid */
    CacheOptions options(String prefix, CacheSettings declared) {
        CacheSettings own = caches.getOrDefault(prefix, CacheSettings.NONE).over(declared);
        CacheSettings inForce = own.over(defaults);
        own.checkUseful(inForce);
        return inForce.toOptions();
    }
}
