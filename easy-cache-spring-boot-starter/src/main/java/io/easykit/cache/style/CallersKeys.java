package io.easykit.cache.style;

import io.easykit.cache.CacheKey;
import io.easykit.cache.InvalidCacheCallException;
import io.easykit.cache.type.VisibleText;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keys of a call that runs on a thread of the cache. State of the caller's thread, such as its tenant, may be missing there. Then the
 * method would read or change the data of another key.
 *
 * <p>A publisher runs the method at each subscription, and the method or its caller may change the arguments. So if they can change,
 * the keys may differ when a subscription has passed already. If they cannot, it is other state that differs, for example that of the
 * timer thread of a retry.
 */
public final class CallersKeys {

    private final Set<CacheKey<?>> expected;
    private final Method method;
    private final boolean mayChange;

    /** Whether a subscriber had the keys of the caller. It may have found a value, without a call of the method. */
    private final AtomicBoolean subscribed = new AtomicBoolean();

    private final AtomicBoolean passed = new AtomicBoolean();
    private final AtomicBoolean refused = new AtomicBoolean();

    /**
     * @param callers   keys that were computed on the thread of the caller
     * @param mayChange whether the arguments of which they are computed can change
     */
    public CallersKeys(Collection<? extends CacheKey<?>> callers, Method method, boolean mayChange) {
        this.expected = new LinkedHashSet<>(callers);
        this.method = method;
        this.mayChange = mayChange;
    }

    /**
     * Has to be called before the method, on the thread that will call it.
     *
     * @param here computes the keys on this thread
     * @return false if they differ, a subscription has passed before, and the arguments can change
     * @throws InvalidCacheCallException if they differ or are not known otherwise
     * @throws RuntimeException if they are not known, as in any call without a key
     */
    public boolean pass(Supplier<? extends Collection<? extends CacheKey<?>>> here) {
        boolean same = areSame(here, passed.get());
        passed.set(true);
        return same;
    }

    /** Whether the keys are still the same when the method has ended. It may have changed its arguments, and so may its caller. */
    public boolean areUnchanged(Supplier<? extends Collection<? extends CacheKey<?>>> here) {
        try {
            return new LinkedHashSet<CacheKey<?>>(here.get()).equals(expected);
        } catch (RuntimeException unknown) {
            return false;
        }
    }

    /** As {@link #pass}, on the thread of a subscriber, which does not call the method. */
    public boolean areSame(Supplier<? extends Collection<? extends CacheKey<?>>> here) {
        boolean same = areSame(here, passed.get() || subscribed.get());
        subscribed.set(true);
        return same;
    }

    private boolean areSame(Supplier<? extends Collection<? extends CacheKey<?>>> here, boolean again) {
        Set<CacheKey<?>> now = new LinkedHashSet<>();
        RuntimeException problem = null;
        try {
            now.addAll(here.get());
        } catch (RuntimeException unknown) {
            problem = unknown;
        }
        boolean same = problem == null && now.equals(expected);
        if (!same && !(again && mayChange && !refused.get())) {
            refused.set(true);
            throw refusal(now, problem);
        }
        if (problem != null) {
            throw problem;
        }
        return same;
    }

    private InvalidCacheCallException refusal(Set<CacheKey<?>> now, @Nullable RuntimeException problem) {
        Set<CacheKey<?>> all = new LinkedHashSet<>(expected);
        all.addAll(now);
        String name = all.isEmpty() ? "" : all.iterator().next().spec().prefix();
        return new InvalidCacheCallException(
                name,
                "The call of " + method + " is refused: it runs on a thread of the cache, where its keys are no longer "
                        + VisibleText.list(expected)
                        + ", so it could use the data of another key. The method has not run. If the keys depend"
                        + " on state of the caller's thread, such as a tenant, propagate that by a TaskDecorator bean, or"
                        + " pass it as a parameter. If they depend on a bean or on the time, call the method for each"
                        + " subscription (Mono.defer). Do not change arguments after the call.",
                problem);
    }
}
