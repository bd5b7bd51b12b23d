package io.easykit.cache.aop;

import io.easykit.cache.CacheKey;
import io.easykit.cache.EasyCache;
import io.easykit.cache.async.Futures;
import io.easykit.cache.style.CallStyle;
import java.util.List;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/**
 * Runs the part of an update that has to surround the transaction of its method. {@link UpdateCacheInterceptor} does the rest, inside
 * that transaction.
 *
 * <ul>
 *   <li>A method that returns a future or a publisher has its whole update here ({@link AsyncUpdate}): the transaction ends when the
 *       result is there, or when the method returns.
 *   <li>A method that updates a serial cache waits here for its turn, before its transaction begins. One that declares no transaction
 *       is left to the other interceptor as a whole.
 * </ul>
 */
final class OuterUpdateInterceptor implements MethodInterceptor {

    private final Supplier<CachedMethods> methods;
    private final Supplier<EasyCache> cache;
    private final Supplier<TransactionalMethods> transactional;
    private final Supplier<Futures> futures;

    OuterUpdateInterceptor(
            Supplier<CachedMethods> methods,
            Supplier<EasyCache> cache,
            Supplier<TransactionalMethods> transactional,
            Supplier<Futures> futures) {
        this.methods = methods;
        this.cache = cache;
        this.transactional = transactional;
        this.futures = futures;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Call call = Call.of(invocation);
        UpdateOperation operation = methods.get().update(call.getMethod(), call.getTargetClass());
        if (operation != null && operation.returned().isLater()) {
            return new AsyncUpdate((ProxyMethodInvocation) invocation, operation, call, cache.get())
                    .run(CallStyle.of(operation.returned(), futures.get()));
        }
        if (operation == null
                || !operation.isSerial()
                || !transactional.get().declareTransaction(call.getMethod(), call.implementationClass())) {
            return invocation.proceed();
        }
        List<CacheKey<?>> keys = operation.keysBefore(call).keys();
        return cache.get().inOrder(keys, invocation::proceed);
    }
}
