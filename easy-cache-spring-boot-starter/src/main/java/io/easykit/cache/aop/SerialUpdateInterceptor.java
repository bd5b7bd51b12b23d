package io.easykit.cache.aop;

import io.easykit.cache.CacheKey;
import io.easykit.cache.EasyCache;
import java.util.List;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Lets a method that updates a serial cache wait for its turn before its own transaction begins. {@link UpdateCacheInterceptor}
 * does the rest, inside that transaction.
 *
 * <p>A method that declares no transaction is left to that interceptor as a whole.
 */
final class SerialUpdateInterceptor implements MethodInterceptor {

    private final Supplier<CachedMethods> methods;
    private final Supplier<EasyCache> cache;
    private final Supplier<TransactionalMethods> transactional;

    SerialUpdateInterceptor(
            Supplier<CachedMethods> methods, Supplier<EasyCache> cache, Supplier<TransactionalMethods> transactional) {
        this.methods = methods;
        this.cache = cache;
        this.transactional = transactional;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Call call = Call.of(invocation);
        UpdateOperation operation = methods.get().update(call.getMethod(), call.getTargetClass());
        if (operation == null
                || !operation.isSerial()
                || !transactional.get().declareTransaction(call.getMethod(), call.implementationClass())) {
            return invocation.proceed();
        }
        List<CacheKey<?>> keys = operation.keysBefore(call);
        return cache.get().inOrder(keys, invocation::proceed);
    }
}
