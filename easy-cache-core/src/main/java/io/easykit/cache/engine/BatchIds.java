package io.easykit.cache.engine;

import io.easykit.cache.BatchLoader;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.InvalidCacheKeyException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The elements of one call, in the caller's order. Elements with the same key are one. */
final class BatchIds<K, V> {

    private final CacheSpec<V> spec;
    private final Map<K, CacheKey<V>> keys;
    private final Map<CacheKey<V>, K> firsts;

    /**
     * @throws InvalidCacheKeyException if an element is null, or cannot be the part of a key
     */
    BatchIds(CacheSpec<V> spec, Collection<? extends K> ids) {
        this.spec = spec;
        this.keys = new LinkedHashMap<>();
        this.firsts = new LinkedHashMap<>();
        int position = 0;
        for (@Nullable K id : ids) {
            if (id == null) {
                throw new InvalidCacheKeyException("Element " + position + " of the " + ids.size() + " elements of '"
                        + spec.prefix() + "' (counted from 0) is null. Leave it out.");
            }
            if (!keys.containsKey(id)) {
                CacheKey<V> key = spec.key((Object) id);
                keys.put(id, key);
                firsts.putIfAbsent(key, id);
            }
            position++;
        }
    }

    /** The elements, without duplicates. */
    List<K> ids() {
        return List.copyOf(firsts.values());
    }

    /** Loads all elements, without a cache. */
    <X extends Throwable> Map<K, V> loadAll(BatchLoader<K, V, X> loader) throws X {
        return keys.isEmpty() ? new LinkedHashMap<>() : inOrder(load(loader, ids()));
    }

    /**
     * @param updatedHere whether the caller is inside an update of a key
     * @param startedAt when the reader came, in nanoseconds of the ticker
     */
    Map<K, V> fetchAll(
            BatchLoader<K, V, ?> loader,
            Predicate<@Nullable V> storable,
            Predicate<CacheKey<?>> updatedHere,
            BatchReader reader,
            long startedAt)
            throws Throwable {
        List<BatchElement<K, V>> elements = new ArrayList<>(firsts.size());
        List<K> updated = new ArrayList<>();
        firsts.forEach((key, id) -> {
            if (updatedHere.test(key)) {
                updated.add(id);
            } else {
                ElementLoader<K, V> one = new ElementLoader<>(spec, loader, id);
                elements.add(new BatchElement<>(id, new ReadRequest<>(key, one, storable, startedAt)));
            }
        });
        Map<CacheKey<V>, @Nullable V> values = new HashMap<>();
        if (!updated.isEmpty()) {
            LoadInProgress.markUnstorable();
            values.putAll(load(loader, List.copyOf(updated)));
        }
        if (!elements.isEmpty()) {
            reader.fetch(new BatchRead<>(elements, loader));
        }
        for (BatchElement<K, V> element : elements) {
            LoadResult<V> result = element.result();
            if (result == null) {
                throw new IllegalStateException("No result for " + element.key());
            }
            values.put(element.key(), result.get());
        }
        return inOrder(values);
    }

    private <X extends Throwable> Map<CacheKey<V>, @Nullable V> load(BatchLoader<K, V, X> loader, List<K> ids)
            throws X {
        Map<K, V> loaded = ElementLoader.requireAsked(spec, loader.load(ids), new HashSet<>(ids));
        Map<CacheKey<V>, @Nullable V> values = new HashMap<>();
        ids.forEach(id -> values.put(keys.get(id), ElementLoader.valueOf(spec, loaded, id)));
        return values;
    }

    private Map<K, V> inOrder(Map<CacheKey<V>, @Nullable V> values) {
        Map<K, V> result = new LinkedHashMap<>();
        keys.forEach((id, key) -> {
            V value = values.get(key);
            if (value != null) {
                result.put(id, value);
            }
        });
        return result;
    }
}
