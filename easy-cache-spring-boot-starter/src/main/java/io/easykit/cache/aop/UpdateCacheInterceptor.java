package io.easykit.cache.aop;

import io.easykit.cache.Action;
import io.easykit.cache.CacheKey;
import io.easykit.cache.EasyCache;
import java.util.List;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Runs a method as an update of the entries that it changes.
 *
 * <p>Right on either side of the transaction advisor. Inside, the transaction is open: all keys, those over the result
 * too, become part of it. Outside, the update goes around the whole method, and its commit.
 */
final class UpdateCacheInterceptor implements MethodInterceptor {

    private final Supplier<CachedMethods> methods;
    private final Supplier<EasyCache> cache;

    UpdateCacheInterceptor(Supplier<CachedMethods> methods, Supplier<EasyCache> cache) {
        this.methods = methods;
        this.cache = cache;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Call call = Call.of(invocation);
        UpdateOperation operation = methods.get().update(call.getMethod(), call.getTargetClass());
        if (operation == null) {
            return invocation.proceed();
        }
        Action<Object, Throwable> action = () -> proceed(invocation, call, operation);
        List<CacheKey<?>> keys = operation.keysBefore(call);
        return keys.isEmpty() ? action.run() : cache.get().update(keys, action);
    }

    private @Nullable Object proceed(MethodInvocation invocation, Call call, UpdateOperation operation)
            throws Throwable {
        Object result = invocation.proceed();
        if (!operation.after().isEmpty()) {
            cache.get().invalidate(operation.keysAfter(call.withResult(result)));
        }
        return result;
    }
}
