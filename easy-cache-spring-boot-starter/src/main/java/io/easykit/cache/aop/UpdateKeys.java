package io.easykit.cache.aop;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The keys of one {@code @UpdateCache}.
 *
 * @param key null for all entries of the cache
 * @param batch whether each element of the only part is a key
 * @param spec of the cache, which may be declared later
 */
record UpdateKeys(@Nullable KeyExpression key, boolean batch, Supplier<CacheSpec<?>> spec) {

    /** @throws io.easykit.cache.InvalidCacheKeyException if a part is null, or has no stable text */
    List<CacheKey<?>> of(Call call) {
        CacheSpec<?> cache = spec.get();
        if (key == null) {
            return List.of(cache.all());
        }
        return batch ? key.ofElements(cache, call) : List.of(key.of(cache, call));
    }

    /** Adds the keys without those that have a null as a part. Returns whether there was no such key. */
    boolean addKnown(Call call, List<CacheKey<?>> keys) {
        if (key == null) {
            return keys.addAll(of(call));
        }
        if (batch) {
            return key.addKnownElements(spec.get(), call, keys);
        }
        CacheKey<?> known = key.ofKnown(spec.get(), call);
        return known != null && keys.add(known);
    }
}
