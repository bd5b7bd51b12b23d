package io.easykit.cache.aop;

import io.easykit.cache.BatchLoader;
import io.easykit.cache.EasyCache;
import io.easykit.cache.style.CallStyle.Awaiter;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;

/** Loads by running the rest of an invocation with other elements, any number of times. See {@link CachedCall}. */
final class CachedBatchCall implements BatchLoader<Object, Object, Throwable> {

    private final ProxyMethodInvocation invocation;
    private final ReadOperation operation;
    private final BatchMethod method;
    private final Awaiter awaiter;

    /** @param awaiter waits for the result of the method */
    CachedBatchCall(ProxyMethodInvocation invocation, ReadOperation operation, BatchMethod method, Awaiter awaiter) {
        this.invocation = invocation;
        this.operation = operation;
        this.method = method;
        this.awaiter = awaiter;
    }

    /** The elements of the call. */
    List<Object> elements() {
        return BatchMethod.elements(
                invocation.getArguments()[method.parameter()],
                operation.key().texts().get(0),
                operation.spec().prefix());
    }

    /** Runs the call through the cache. */
    Object fetch(EasyCache cache, List<Object> elements) throws Throwable {
        return method.result(elements, cache.fetchAll(operation.spec(), elements, this));
    }

    @Override
    public Map<Object, Object> load(Collection<Object> missing) throws Throwable {
        Object[] arguments = method.arguments(invocation.getArguments(), missing);
        Object result =
                awaiter.await(ExposeInvocationInterceptor.INSTANCE.invoke(invocation.invocableClone(arguments)));
        return method.byElement(operation.reloads().where(), missing, arguments[method.parameter()], result);
    }

    @Override
    public @Nullable BatchLoader<Object, Object, Throwable> forBackground() {
        Object[] others = method.withoutElements(invocation.getArguments());
        Object[] arguments = operation.reloads().arePossible() ? ArgumentCopies.of(others) : null;
        return arguments == null
                ? null
                : new CachedBatchCall(
                        (ProxyMethodInvocation) invocation.invocableClone(arguments), operation, method, awaiter);
    }
}
