package io.easykit.cache.style;

import io.easykit.cache.CacheKey;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keys of an update that are known after its method. The data have changed already, so one that cannot be computed keeps no other from
 * being invalidated. The first failure is thrown afterwards, with the others as suppressed ones.
 */
public final class LateKeys {

    private final List<CacheKey<?>> keys = new ArrayList<>();
    private @Nullable Throwable problem;

    /** Adds the keys that a computation puts into the list. */
    public void add(Consumer<List<CacheKey<?>>> computation) {
        attempt(() -> computation.accept(keys));
    }

    /** Removes keys that were known before the method, and were prepared. */
    public void remove(Collection<CacheKey<?>> prepared) {
        Set<CacheKey<?>> known = new HashSet<>(prepared);
        keys.removeIf(known::contains);
    }

    /** Invalidates the keys, each once, and throws what has failed. */
    public void invalidate(Consumer<List<CacheKey<?>>> invalidation) throws Throwable {
        if (!keys.isEmpty()) {
            attempt(() -> invalidation.accept(List.copyOf(new LinkedHashSet<>(keys))));
        }
        if (problem != null) {
            throw problem;
        }
    }

    private void attempt(Runnable step) {
        try {
            step.run();
        } catch (Throwable failure) {
            if (problem == null) {
                problem = failure;
            } else if (problem != failure) {
                problem.addSuppressed(failure);
            }
        }
    }
}
