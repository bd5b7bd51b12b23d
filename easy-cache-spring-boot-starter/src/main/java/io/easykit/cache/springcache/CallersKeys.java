package io.easykit.cache.springcache;

import io.easykit.cache.CacheKey;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keys of a call that runs on a thread of the cache. State of the caller's thread, such as its tenant, may be missing there. Then the
 * method would read or change the data of another key.
 */
final class CallersKeys {

    private CallersKeys() {}

    /**
     * Has to be called before the method, on the thread that will call it.
     *
     * @param callers keys that were computed on the thread of the caller
     * @param here computes them on this thread
     * @throws InvalidCacheCallException if they differ
     */
    static void requireSame(
            Collection<? extends CacheKey<?>> callers,
            Supplier<? extends Collection<? extends CacheKey<?>>> here,
            Method method) {
        Set<CacheKey<?>> now = new LinkedHashSet<>();
        RuntimeException problem = null;
        try {
            now.addAll(here.get());
        } catch (RuntimeException unknown) {
            problem = unknown;
        }
        Set<CacheKey<?>> expected = new LinkedHashSet<>(callers);
        if (problem != null || !now.equals(expected)) {
            throw refusal(expected, now, method, problem);
        }
    }

    private static InvalidCacheCallException refusal(
            Set<CacheKey<?>> expected, Set<CacheKey<?>> now, Method method, @Nullable RuntimeException problem) {
        Set<CacheKey<?>> all = new LinkedHashSet<>(expected);
        all.addAll(now);
        String name = all.isEmpty() ? "" : all.iterator().next().spec().prefix();
        return new InvalidCacheCallException(
                name,
                "The call of " + method + " is refused: it runs on a thread of the cache, where its keys are no longer "
                        + expected
                        + ", so it could use the data of another key. The method has not run. If the keys depend"
                        + " on state of the caller's thread, such as a tenant, propagate that by a TaskDecorator bean, or"
                        + " pass it as a parameter. Do not change arguments after the call.",
                problem);
    }
}
