package io.easykit.cache.aop;

import io.easykit.cache.CacheKey;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.aop.OperationFactory.CacheName;
import io.easykit.cache.type.DeclaredPart;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * Compares the declared types of key parts across all methods of a cache. The text {@code "42"} and the number 42 are
 * different keys: an update with one would never invalidate an entry stored with the other.
 */
final class KeyPartTypes {

    private final Map<Part, List<Declared>> declared = new HashMap<>();

    /**
     * @param texts the expressions of the parts
     * @param types the types of the parts; null if only the value determines it
     * @throws InvalidCacheDeclarationException if another method of the cache declares a type for a part whose values are never
     *     equal to these
     */
    synchronized void require(CacheName cache, CachedMethod where, List<String> texts, List<@Nullable Type> types) {
        for (int i = 0; i < types.size(); i++) {
            Type type = types.get(i);
            if (type != null) {
                Declared mine = new Declared(where, texts.get(i), type);
                List<Declared> all =
                        declared.computeIfAbsent(new Part(cache, types.size(), i), any -> new ArrayList<>());
                all.forEach(other -> mine.requireMatch(other, cache));
                if (all.stream().noneMatch(mine::isLike)) {
                    all.add(mine);
                }
            }
        }
    }

    private record Part(CacheName cache, int parts, int index) {}

    private record Declared(CachedMethod where, String text, Type type) {

        void requireMatch(Declared other, CacheName cache) {
            if (!CacheKey.mayBeSamePart(type, other.type) && !mayBeOfOneRead(other)) {
                throw where.problem(
                        "the key part '" + text + "' is a " + type.getTypeName() + ", but a " + other.type.getTypeName()
                                + " ('" + other.text + "') in " + other.where.describe()
                                + ", so the two never name the same entry of '" + cache.prefix() + "'",
                        "Declare both with the same type" + conversion(type, other.type) + ".");
            }
        }

        /** A read with a {@code java.util.Date} may have entries of both updates, with dates and with timestamps of SQL. */
        private boolean mayBeOfOneRead(Declared other) {
            return isUpdate()
                    && other.isUpdate()
                    && DeclaredPart.of(type).mayHaveCommonType(DeclaredPart.of(other.type));
        }

        private boolean isLike(Declared other) {
            return type.equals(other.type) && isUpdate() == other.isUpdate();
        }

        private boolean isUpdate() {
            return where.annotation() == UpdateCache.class;
        }

        private static String conversion(Type... types) {
            String call = Stream.of(types).allMatch(Declared::isNumber)
                    ? "longValue"
                    : Stream.of(types).anyMatch(String.class::equals) ? "toString" : "";
            return call.isEmpty() ? "" : ", or convert one, for example keys = \"#id." + call + "()\"";
        }

        private static boolean isNumber(Type type) {
            return type instanceof Class<?> number
                    && Number.class.isAssignableFrom(ClassUtils.resolvePrimitiveIfNecessary(number));
        }
    }
}
