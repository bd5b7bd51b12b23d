package io.easykit.cache.aop;

import io.easykit.cache.CacheKey;
import io.easykit.cache.Consistency;
import io.easykit.cache.LoadAbandonedException;
import io.easykit.cache.Loader;
import io.easykit.cache.style.CallStyle.Awaiter;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;

/**
 * Loads by running the rest of an invocation, any number of times. Each time uses a copy at the position of the
 * interceptor. Inner aspects see that copy as the current invocation.
 *
 * <p>The method may change its arguments, such as a list that it sorts. So a repetition gets copies of the arguments before
 * the first load. If they cannot be copied and the key has changed, the load is not repeated.
 */
final class CachedCall implements Loader<Object, Throwable> {

    private final ProxyMethodInvocation invocation;

    /** Null where the caller waits, and so changes no argument meanwhile: a hit allocates nothing for them. */
    private final @Nullable HeldArguments held;

    private final ReadOperation operation;
    private final CacheKey<Object> key;
    private final Awaiter awaiter;

    /** Arguments before the first load; null if there was none, they cannot be copied, or no load is repeated (AP). */
    private Object @Nullable [] original;

    private boolean loaded;

    /** A call whose caller waits for it. */
    CachedCall(ProxyMethodInvocation invocation, ReadOperation operation, CacheKey<Object> key, Awaiter awaiter) {
        this(invocation, null, operation, key, awaiter);
    }

    /** @param awaiter waits for the result of the method */
    CachedCall(HeldArguments held, ReadOperation operation, CacheKey<Object> key, Awaiter awaiter) {
        this(held.invocation(), held, operation, key, awaiter);
    }

    private CachedCall(
            ProxyMethodInvocation invocation,
            @Nullable HeldArguments held,
            ReadOperation operation,
            CacheKey<Object> key,
            Awaiter awaiter) {
        this.invocation = invocation;
        this.held = held;
        this.operation = operation;
        this.key = key;
        this.awaiter = awaiter;
    }

    @Override
    public @Nullable Object load() throws Throwable {
        return awaiter.await(invoke());
    }

    /** Runs the rest of the invocation. Returns what the method returns. */
    @Nullable Object invoke() throws Throwable {
        if (loaded) {
            return invokeAgain();
        }
        loaded = true;
        MethodInvocation next = next();
        if (key.spec().options().consistency() == Consistency.CP) {
            original = ArgumentCopies.of(next.getArguments());
        }
        return ExposeInvocationInterceptor.INSTANCE.invoke(next);
    }

    private @Nullable Object invokeAgain() throws Throwable {
        Object[] copies = original == null ? null : ArgumentCopies.of(original);
        MethodInvocation again = copies == null ? next() : invocation.invocableClone(copies);
        LoadAbandonedException changed = differs(again, "The method has changed its arguments: the key is no longer ");
        if (changed != null) {
            throw changed;
        }
        return ExposeInvocationInterceptor.INSTANCE.invoke(again);
    }

    private MethodInvocation next() {
        return held == null ? invocation.invocableClone() : held.next();
    }

    @Override
    public @Nullable Loader<Object, Throwable> forBackground() {
        Object[] copies = operation.reloads().arePossible() ? ArgumentCopies.of(invocation.getArguments()) : null;
        if (copies == null) {
            return null;
        }
        ProxyMethodInvocation copy = (ProxyMethodInvocation) invocation.invocableClone(copies);
        return new CachedCall(copy, operation, key, awaiter)::loadInBackground;
    }

    /** Thread-bound state that the key or the method uses may be missing here, or belong to another call. */
    private @Nullable Object loadInBackground() throws Throwable {
        requireSameKey();
        Object value = load();
        requireSameKey();
        return value;
    }

    private void requireSameKey() {
        LoadAbandonedException other = differs(invocation, "The key depends on the thread: here it is not ");
        if (other != null) {
            operation.reloads().giveUp();
            throw other;
        }
    }

    /** Returns null if the key is still the same. */
    private @Nullable LoadAbandonedException differs(MethodInvocation now, String otherwise) {
        try {
            return key.equals(operation.key(Call.of(now))) ? null : new LoadAbandonedException(otherwise + key, null);
        } catch (RuntimeException unknown) {
            return new LoadAbandonedException(otherwise + key, unknown);
        }
    }
}
