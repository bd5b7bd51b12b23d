package io.easykit.cache.actuate;

import io.easykit.boot.DurationTexts;
import io.easykit.boot.EnumWords;
import io.easykit.cache.admin.CacheDeclaration;
import io.easykit.cache.admin.CacheDeclaration.KeyPart;
import io.easykit.cache.admin.CacheDeclaration.Setting;
import io.easykit.cache.admin.CacheInfo;
import io.easykit.cache.admin.CacheNumbers;
import io.easykit.cache.admin.EasyCacheAdmin;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A cache of this node as the endpoint shows it.
 *
 * @param overSeconds time for which {@code reads} and {@code loads} have been counted
 * @param loads       by what became of them
 */
record CacheView(
        String prefix,
        String cluster,
        String consistency,
        double worstStalenessSeconds,
        double overSeconds,
        Reads reads,
        Map<String, Long> loads,
        List<Declaration> declarations) {

    /** @param prefix null for all caches */
    static List<CacheView> all(EasyCacheAdmin admin, @Nullable String prefix) {
        return admin.caches().stream()
                .filter(cache -> prefix == null || cache.prefix().equals(prefix))
                .map(CacheView::of)
                .toList();
    }

    private static CacheView of(CacheInfo cache) {
        CacheNumbers numbers = cache.numbers();
        Map<String, Long> loads = new TreeMap<>();
        numbers.loads().forEach((load, count) -> loads.put(EnumWords.of(load), count));
        return new CacheView(
                cache.prefix(),
                cache.clusterId(),
                EnumWords.of(cache.consistency()),
                DurationTexts.seconds(cache.worstStaleness()),
                DurationTexts.seconds(numbers.over()),
                new Reads(
                        numbers.hits(),
                        numbers.near(),
                        numbers.stale(),
                        numbers.local(),
                        numbers.expired(),
                        numbers.misses()),
                loads,
                cache.declarations().stream().map(Declaration::of).toList());
    }

    /** Reads by where their value came from. */
    record Reads(long hit, long near, long stale, long local, long expired, long miss) {}

    /**
     * A place that declares the cache.
     *
     * @param key   pattern of the names of its entries
     * @param parts expressions of the parts of the key
     * @param types their types; an empty text if only the call determines it
     */
    record Declaration(
            String source,
            String type,
            String key,
            List<String> parts,
            List<String> types,
            List<Setting> settings,
            String staleness) {

        static Declaration of(CacheDeclaration declared) {
            List<String> parts = declared.keyParts().stream().map(KeyPart::text).toList();
            return new Declaration(
                    declared.source(),
                    declared.spec().type().getTypeName(),
                    declared.spec().keyPattern(parts),
                    parts,
                    declared.keyParts().stream().map(Declaration::type).toList(),
                    declared.settings(),
                    declared.staleness());
        }

        private static String type(KeyPart part) {
            Class<?> type = part.type();
            return type == null ? "" : type.getTypeName();
        }
    }
}
