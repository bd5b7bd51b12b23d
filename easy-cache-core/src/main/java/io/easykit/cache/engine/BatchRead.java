package io.easykit.cache.engine;

import io.easykit.cache.BatchLoader;
import io.easykit.cache.LoadScope;
import io.easykit.cache.Loader;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One call of a reader of several elements of one cache. Used by the thread of its reader alone.
 *
 * @param elements in the caller's order; no two have the same key
 */
record BatchRead<K, V>(List<BatchElement<K, V>> elements, BatchLoader<K, V, ?> loader) {

    boolean hasOpen() {
        return elements.stream().anyMatch(BatchElement::isOpen);
    }

    /** Throws the first failure of an element. */
    void requireNoFailure() throws Throwable {
        for (BatchElement<K, V> element : elements) {
            LoadResult<V> result = element.result();
            if (result != null && result.failure() != null) {
                throw result.failure();
            }
        }
    }

    List<BatchElement<K, V>> open() {
        return elements.stream().filter(BatchElement::isOpen).toList();
    }

    List<BatchElement<K, V>> away() {
        return elements.stream().filter(element -> element.away() != null).toList();
    }

    /** The loader of some elements, as it runs in a scope. */
    Loader<Map<K, V>, Throwable> loaderOf(List<BatchElement<K, V>> some, LoadScope scope) {
        List<K> ids = some.stream().map(BatchElement::id).toList();
        Loader<Map<K, V>, Throwable> all = () -> {
            Set<K> asked = new HashSet<>(ids);
            @Nullable Map<K, V> loaded = loader.load(ids);
            return ElementLoader.requireAsked(some.get(0).key().spec(), loaded, asked);
        };
        return scope.around(all);
    }
}
