package io.easykit.cache.aop;

import io.easykit.cache.CacheKey;
import io.easykit.cache.EasyCache;
import io.easykit.cache.style.CallStyle;
import io.easykit.cache.style.CallStyle.Awaiter;
import io.easykit.cache.style.CallersKeys;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;

/**
 * A call of a {@code @Cacheable} method that returns a future or a publisher: a blocking read on a thread of the cache, which waits
 * for the result of the method. The key is computed on the thread of the caller.
 *
 * <p>Inside a reactive transaction that began before the subscription, the method runs without the cache: a value that it reads there
 * may be rolled back, and a cached one may be older than the changes of the transaction.
 */
final class AsyncRead {

    private final ProxyMethodInvocation invocation;
    private final ReadOperation operation;
    private final Call call;
    private final Supplier<EasyCache> cache;

    AsyncRead(ProxyMethodInvocation invocation, ReadOperation operation, Call call, Supplier<EasyCache> cache) {
        this.invocation = invocation;
        this.operation = operation;
        this.call = call;
        this.cache = cache;
    }

    @Nullable Object run(CallStyle style) throws Throwable {
        BatchMethod batch = operation.key().batch();
        return batch == null ? runSingle(style) : runBatch(style, batch);
    }

    private @Nullable Object runSingle(CallStyle style) throws Throwable {
        CacheKey<Object> key = operation.key(call);
        CallersKeys callers = new CallersKeys(List.of(key), call.getMethod());
        return style.run(place -> {
            boolean same = callers.pass(() -> List.of(operation.key(call)));
            return place.isInTransaction() || !same ? uncached(place.load()) : read(key, place.load());
        });
    }

    private @Nullable Object read(CacheKey<Object> key, Awaiter awaiter) throws Throwable {
        CachedCall loader = new CachedCall(invocation, operation, key, awaiter);
        return operation.storesAll()
                ? cache.get().fetch(key, loader)
                : cache.get().fetch(key, loader, value -> operation.mayStore(call, value));
    }

    /** Its keys are elements of the arguments, which are copied here. They do not depend on the thread. */
    private @Nullable Object runBatch(CallStyle style, BatchMethod batch) throws Throwable {
        List<Object> elements = new CachedBatchCall(invocation, operation, batch, Awaiter.NONE).elements();
        return style.run(place -> place.isInTransaction()
                ? uncached(place.load())
                : new CachedBatchCall(invocation, operation, batch, place.load()).fetch(cache.get(), elements));
    }

    private @Nullable Object uncached(Awaiter awaiter) throws Throwable {
        return awaiter.await(ExposeInvocationInterceptor.INSTANCE.invoke(invocation.invocableClone()));
    }
}
