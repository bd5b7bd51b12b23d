package io.easykit.cache.aop;

import io.easykit.cache.Action;
import io.easykit.cache.CacheKey;
import io.easykit.cache.EasyCache;
import io.easykit.cache.aop.UpdateOperation.KeysBefore;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Runs a method as an update of entries.
 *
 * <p>Works on either side of the transaction advisor. Inside it the transaction is open: all keys, including those over
 * the result, become part of the transaction. Outside it the update surrounds the whole method and its commit.
 *
 * <p>If a method declares that it joins the present transaction, its update belongs to that transaction only. Any other
 * method may commit its work earlier, or use a store without transactions, so its update also surrounds the call. A method that
 * declares its transaction gets no other one from a serial cache.
 *
 * <p>A method that returns a future or a publisher passes: {@link OuterUpdateInterceptor} runs it.
 */
final class UpdateCacheInterceptor implements MethodInterceptor {

    private final Supplier<CachedMethods> methods;
    private final Supplier<EasyCache> cache;
    private final Supplier<TransactionalMethods> transactional;

    /** @param transactional methods whose update belongs to the present transaction only */
    UpdateCacheInterceptor(
            Supplier<CachedMethods> methods, Supplier<EasyCache> cache, Supplier<TransactionalMethods> transactional) {
        this.methods = methods;
        this.cache = cache;
        this.transactional = transactional;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Call call = Call.of(invocation);
        UpdateOperation operation = methods.get().update(call.getMethod(), call.getTargetClass());
        if (operation == null || operation.returned().isLater()) {
            return invocation.proceed();
        }
        boolean joins = transactional.get().joinTransaction(call.getMethod(), call.implementationClass());
        KeysBefore before = operation.keysBefore(call);
        List<CacheKey<?>> keys = before.keys();
        Consumer<List<CacheKey<?>>> late = joins ? cache.get()::invalidateInTransaction : cache.get()::invalidate;
        Action<Object, Throwable> action = () -> operation.run(call, before, invocation::proceed, late);
        if (keys.isEmpty()) {
            return action.run();
        }
        return joins
                ? cache.get().updateInTransaction(keys, action)
                : cache.get().update(keys, action);
    }
}
