package io.easykit.cache.engine;

import io.easykit.cache.BatchLoader;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.Loader;
import io.easykit.cache.type.VisibleText;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Loads one element of a batch, for example to refresh it. */
final class ElementLoader<K, V> implements Loader<V, Throwable> {

    private final CacheSpec<V> spec;
    private final BatchLoader<K, V, ?> loader;
    private final K id;

    ElementLoader(CacheSpec<V> spec, BatchLoader<K, V, ?> loader, K id) {
        this.spec = spec;
        this.loader = loader;
        this.id = id;
    }

    @Override
    public @Nullable V load() throws Throwable {
        return valueOf(spec, requireAsked(spec, loader.load(List.of(id)), Collections.singleton(id)), id);
    }

    @Override
    public @Nullable Loader<V, ?> forBackground() {
        BatchLoader<K, V, ?> there = loader.forBackground();
        return there == null ? null : new ElementLoader<>(spec, there, id);
    }

    /**
     * Checks the result of a loader.
     *
     * @param asked the elements that were to be loaded
     * @throws InvalidCacheKeyException if it is null, or has an element that was not asked for
     */
    static <K, V> Map<K, V> requireAsked(CacheSpec<V> spec, @Nullable Map<K, V> loaded, Set<K> asked) {
        Map<K, V> found = requireMap(spec, loaded);
        for (K key : found.keySet()) {
            if (!asked.contains(key)) {
                throw new InvalidCacheKeyException(
                        "The loader of '" + spec.prefix() + "' returned a value for " + describe(key)
                                + ", which it was not asked for. It was asked for "
                                + describe(asked.iterator().next())
                                + (asked.size() == 1 ? "" : " and " + (asked.size() - 1) + " more")
                                + ". Return a map with exactly the elements of the call as its keys, of the same class.");
            }
        }
        return found;
    }

    /** @throws InvalidCacheKeyException if it is null */
    static <K, V> Map<K, V> requireMap(CacheSpec<V> spec, @Nullable Map<K, V> loaded) {
        if (loaded == null) {
            throw new InvalidCacheKeyException("The loader of '" + spec.prefix()
                    + "' returned null instead of a map. Return an empty map if no element has a value.");
        }
        return loaded;
    }

    /** The value of an element. One that was left out has none: null or, where the values are optional, an empty one. */
    @SuppressWarnings("unchecked") // the spec's type is the caller's word for V
    static <K, V> @Nullable V valueOf(CacheSpec<V> spec, Map<K, V> loaded, K id) {
        V value = loaded.get(id);
        return value == null && isOptional(spec.type()) ? (V) Optional.empty() : value;
    }

    private static boolean isOptional(Type type) {
        return type == Optional.class
                || (type instanceof ParameterizedType generic && generic.getRawType() == Optional.class);
    }

    private static String describe(@Nullable Object element) {
        return element == null
                ? "null"
                : VisibleText.of(String.valueOf(element)) + " ("
                        + element.getClass().getName() + ")";
    }
}
