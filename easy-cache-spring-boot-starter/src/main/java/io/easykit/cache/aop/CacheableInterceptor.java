package io.easykit.cache.aop;

import io.easykit.cache.CacheKey;
import io.easykit.cache.EasyCache;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/** Runs a call through the cache. The loader is the rest of the invocation. */
final class CacheableInterceptor implements MethodInterceptor {

    private final Supplier<CachedMethods> methods;
    private final Supplier<EasyCache> cache;

    CacheableInterceptor(Supplier<CachedMethods> methods, Supplier<EasyCache> cache) {
        this.methods = methods;
        this.cache = cache;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Call call = Call.of(invocation);
        ReadOperation operation = methods.get().read(call.getMethod(), call.getTargetClass());
        if (operation == null || !operation.applies(call)) {
            return invocation.proceed();
        }
        BatchMethod batch = operation.key().batch();
        if (batch != null) {
            return new CachedBatchCall((ProxyMethodInvocation) invocation, operation, batch).fetch(cache.get());
        }
        CacheKey<Object> key = operation.key(call);
        CachedCall loader = new CachedCall((ProxyMethodInvocation) invocation, operation, key);
        return operation.storesAll()
                ? cache.get().fetch(key, loader)
                : cache.get().fetch(key, loader, value -> operation.mayStore(call, value));
    }
}
