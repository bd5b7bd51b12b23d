package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Keys of updates that have ended, and whose end is not in the outbox: it waits to be written, or could not be. If Redis has not
 * taken it either, it is lost with this process. Beyond a limit the caches of the keys stand for them.
 */
final class UnwrittenInvalidations {

    private final int limit;
    private final Set<CacheKey<?>> keys = new HashSet<>();

    UnwrittenInvalidations(int limit) {
        this.limit = limit;
    }

    synchronized void add(Collection<? extends CacheKey<?>> more) {
        keys.addAll(more);
        if (keys.size() > limit) {
            List<CacheKey<?>> caches =
                    keys.stream().<CacheKey<?>>map(key -> key.spec().all()).toList();
            keys.clear();
            keys.addAll(caches);
        }
    }

    /** Their end was written, or needs no message. */
    synchronized void remove(Collection<? extends CacheKey<?>> some) {
        some.forEach(keys::remove);
    }

    synchronized boolean contains(CacheKey<?> key) {
        return keys.contains(key) || keys.contains(key.spec().all());
    }

    /** Whether it has a key with this prefix. */
    synchronized boolean containsAnyOf(String prefix) {
        return keys.stream().anyMatch(key -> key.spec().prefix().equals(prefix));
    }
}
