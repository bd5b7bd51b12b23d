package io.easykit.cache.aop;

import io.easykit.cache.CacheKey;
import io.easykit.cache.EasyCache;
import io.easykit.cache.async.Futures;
import io.easykit.cache.style.CallStyle;
import io.easykit.cache.style.CallStyle.Awaiter;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/** Runs a call through the cache. The loader is the rest of the invocation. See {@link AsyncRead} for futures and publishers. */
final class CacheableInterceptor implements MethodInterceptor {

    private final Supplier<CachedMethods> methods;
    private final Supplier<EasyCache> cache;
    private final Supplier<Futures> futures;

    CacheableInterceptor(Supplier<CachedMethods> methods, Supplier<EasyCache> cache, Supplier<Futures> futures) {
        this.methods = methods;
        this.cache = cache;
        this.futures = futures;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Call call = Call.of(invocation);
        ReadOperation operation = methods.get().read(call.getMethod(), call.getTargetClass());
        if (operation == null || !operation.applies(call)) {
            return invocation.proceed();
        }
        if (operation.returned().isLater()) {
            return new AsyncRead((ProxyMethodInvocation) invocation, operation, cache)
                    .run(CallStyle.of(operation.returned(), futures.get()));
        }
        BatchMethod batch = operation.key().batch();
        if (batch != null) {
            CachedBatchCall all =
                    new CachedBatchCall((ProxyMethodInvocation) invocation, operation, batch, Awaiter.NONE);
            return all.fetch(cache.get(), all.elements());
        }
        CacheKey<Object> key = operation.key(call);
        CachedCall loader = new CachedCall((ProxyMethodInvocation) invocation, operation, key, Awaiter.NONE);
        return operation.storesAll()
                ? cache.get().fetch(key, loader)
                : cache.get().fetch(key, loader, value -> operation.mayStore(call, value));
    }
}
