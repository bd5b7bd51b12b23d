package io.easykit.cache.aop;

import io.easykit.cache.Action;
import io.easykit.cache.CacheKey;
import io.easykit.cache.EasyCache;
import io.easykit.cache.InvalidCacheCallException;
import io.easykit.cache.aop.UpdateOperation.KeysBefore;
import io.easykit.cache.style.CallStyle;
import io.easykit.cache.style.CallStyle.Awaiter;
import io.easykit.cache.style.CallersKeys;
import io.easykit.cache.style.RefusedUpdates;
import io.easykit.cache.type.VisibleText;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;

/**
 * A call of an {@code @UpdateCache} method that returns a future or a publisher: prepared on a thread of the cache before the method
 * is called, invalidated when its result is there or it has failed. That is after the commit of the transaction that the method
 * declares, blocking or reactive.
 *
 * <p>A subscriber that cancels does not stop it: the method ends, and then its entries are invalidated.
 */
final class AsyncUpdate {

    private final ProxyMethodInvocation invocation;
    private final UpdateOperation operation;
    private final Call call;
    private final EasyCache cache;

    AsyncUpdate(ProxyMethodInvocation invocation, UpdateOperation operation, Call call, EasyCache cache) {
        this.invocation = invocation;
        this.operation = operation;
        this.call = call;
        this.cache = cache;
    }

    @Nullable Object run(CallStyle style) throws Throwable {
        List<CacheKey<?>> first = operation.keysBefore(call).keys();
        if (first.isEmpty() && !operation.applies(call)) {
            return invocation.proceed();
        }
        CallersKeys callers =
                new CallersKeys(first, call.getMethod(), ArgumentCopies.mayChange(invocation.getArguments()));
        return style.run(place -> {
            Set<CacheKey<?>> keys = new LinkedHashSet<>(first);
            List<UpdateOperation.Entry> unknown = new ArrayList<>();
            callers.pass(() -> {
                KeysBefore now = operation.keysBefore(call);
                keys.addAll(now.keys());
                unknown.addAll(now.unknown());
                return now.keys();
            });
            if (place.isInTransaction()) {
                throw inTransaction(keys);
            }
            return update(new KeysBefore(List.copyOf(keys), unknown), place.update());
        });
    }

    private InvalidCacheCallException inTransaction(Set<CacheKey<?>> keys) {
        String prefix = keys.isEmpty() ? "" : keys.iterator().next().spec().prefix();
        return RefusedUpdates.inReactiveTransaction(
                prefix, keys.isEmpty() ? "the cache" : VisibleText.list(keys), call.getMethod());
    }

    /** The thread has no transaction, and a serial cache begins none: the method may work on other threads. */
    private @Nullable Object update(KeysBefore before, Awaiter awaiter) throws Throwable {
        Action<Object, Throwable> action = () -> proceed(before, awaiter);
        return before.keys().isEmpty() ? action.run() : cache.updateInTransaction(before.keys(), action);
    }

    private @Nullable Object proceed(KeysBefore before, Awaiter awaiter) throws Throwable {
        return operation.run(
                call,
                before,
                () -> awaiter.await(ExposeInvocationInterceptor.INSTANCE.invoke(invocation.invocableClone())),
                cache::invalidate);
    }
}
