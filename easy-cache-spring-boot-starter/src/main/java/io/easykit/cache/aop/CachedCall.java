package io.easykit.cache.aop;

import io.easykit.cache.CacheKey;
import io.easykit.cache.LoadAbandonedException;
import io.easykit.cache.Loader;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;

/**
 * Loads by running the rest of an invocation, any number of times. Each time uses a copy at the position of the
 * interceptor. Inner aspects see that copy as the current invocation.
 */
final class CachedCall implements Loader<Object, Throwable> {

    private final ProxyMethodInvocation invocation;
    private final ReadOperation operation;
    private final CacheKey<Object> key;

    CachedCall(ProxyMethodInvocation invocation, ReadOperation operation, CacheKey<Object> key) {
        this.invocation = invocation;
        this.operation = operation;
        this.key = key;
    }

    @Override
    public @Nullable Object load() throws Throwable {
        return ExposeInvocationInterceptor.INSTANCE.invoke(invocation.invocableClone());
    }

    @Override
    public @Nullable Loader<Object, Throwable> forBackground() {
        Object[] arguments = operation.reloads().arePossible() ? ArgumentCopies.of(invocation.getArguments()) : null;
        if (arguments == null) {
            return null;
        }
        ProxyMethodInvocation copy = (ProxyMethodInvocation) invocation.invocableClone(arguments);
        return new CachedCall(copy, operation, key)::loadInBackground;
    }

    /** Thread-bound state that the key or the method uses may be missing here, or belong to another call. */
    private @Nullable Object loadInBackground() throws Throwable {
        requireSameKey();
        Object value = load();
        requireSameKey();
        return value;
    }

    private void requireSameKey() {
        Throwable cause = null;
        try {
            if (key.equals(operation.key(Call.of(invocation)))) {
                return;
            }
        } catch (RuntimeException unknown) {
            cause = unknown;
        }
        operation.reloads().giveUp();
        throw new LoadAbandonedException("The key depends on the thread: here it is not " + key, cause);
    }
}
