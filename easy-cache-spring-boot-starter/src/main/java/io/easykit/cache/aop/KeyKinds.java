package io.easykit.cache.aop;

import io.easykit.cache.CacheKey;
import io.easykit.cache.aop.OperationFactory.CacheName;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Compares the declared types of key parts across all methods of a cache. The text {@code "42"} and the number 42 are
 * different keys: an update with one would never invalidate an entry stored with the other.
 */
final class KeyKinds {

    private final Map<Part, Declared> declared = new ConcurrentHashMap<>();

    /**
     * @param texts the expressions of the parts
     * @param types the types of the parts; null if only the value determines it
     * @throws InvalidCacheDeclarationException if another method of the cache declares a different type for a part
     */
    void require(CacheName cache, CachedMethod where, List<String> texts, List<@Nullable Class<?>> types) {
        for (int i = 0; i < types.size(); i++) {
            Class<?> type = types.get(i);
            String kind = type == null ? null : CacheKey.kindOf(type);
            if (type == null || kind == null) {
                continue;
            }
            Part part = new Part(cache, types.size(), i);
            Declared first = declared.putIfAbsent(part, new Declared(where, texts.get(i), kind, type));
            if (first != null && !first.kind.equals(kind)) {
                throw where.problem(
                        "the key part '" + texts.get(i) + "' is a " + type.getTypeName() + ", but a "
                                + first.type.getTypeName() + " ('" + first.text + "') in " + first.where.describe()
                                + ", so the two never name the same entry of '" + cache.prefix() + "'",
                        "Declare both with the same type, or convert one, for example keys = \"#id.toString()\".");
            }
        }
    }

    private record Part(CacheName cache, int parts, int index) {}

    private record Declared(CachedMethod where, String text, String kind, Class<?> type) {}
}
