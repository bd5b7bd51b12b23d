package io.easykit.cache.autoconfigure;

import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.Consistency;
import io.easykit.cache.admin.CacheDeclaration;
import io.easykit.cache.admin.CacheDeclaration.Setting;
import io.easykit.cache.admin.CacheInfo;
import io.easykit.cache.admin.CacheNumbers;
import io.easykit.cache.admin.EasyCacheAdmin;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A cache of this node as the endpoint shows it. Durations are written as in a properties file. */
record CacheView(
        String prefix,
        String cluster,
        Consistency consistency,
        String worstStaleness,
        List<Declaration> declarations,
        Numbers numbers) {

    /** @param prefix null for all caches */
    static List<CacheView> all(EasyCacheAdmin admin, @Nullable String prefix) {
        return admin.caches().stream()
                .filter(cache -> prefix == null || cache.prefix().equals(prefix))
                .map(CacheView::of)
                .toList();
    }

    private static CacheView of(CacheInfo cache) {
        return new CacheView(
                cache.prefix(),
                cache.clusterId(),
                cache.consistency(),
                CacheOptions.text(cache.worstStaleness()),
                cache.declarations().stream().map(Declaration::of).toList(),
                Numbers.of(cache.numbers()));
    }

    /** A place that declares the cache. */
    record Declaration(String source, String type, List<Part> key, List<Setting> settings, String staleness) {

        static Declaration of(CacheDeclaration declared) {
            return new Declaration(
                    declared.source(),
                    declared.spec().type().getTypeName(),
                    declared.keyParts().stream().map(Part::of).toList(),
                    declared.settings(),
                    declared.staleness());
        }
    }

    /** A part of a key. */
    record Part(String part, @Nullable String type) {

        static Part of(CacheDeclaration.KeyPart part) {
            Class<?> type = part.type();
            return new Part(part.text(), type == null ? null : type.getTypeName());
        }
    }

    /** Reads and loads of this node since its start. */
    record Numbers(
            String over,
            long hits,
            long near,
            long stale,
            long local,
            long expired,
            long misses,
            Map<CacheListener.Load, Long> loads) {

        static Numbers of(CacheNumbers numbers) {
            return new Numbers(
                    CacheOptions.text(Duration.ofSeconds(numbers.over().toSeconds())),
                    numbers.hits(),
                    numbers.near(),
                    numbers.stale(),
                    numbers.local(),
                    numbers.expired(),
                    numbers.misses(),
                    new TreeMap<>(numbers.loads()));
        }
    }
}
