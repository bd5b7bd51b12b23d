package io.easykit.cache.aop;

import io.easykit.cache.BatchLoader;
import io.easykit.cache.EasyCache;
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

    CachedBatchCall(ProxyMethodInvocation invocation, ReadOperation operation, BatchMethod method) {
        this.invocation = invocation;
        this.operation = operation;
        this.method = method;
    }

    /** Runs the call through the cache. */
    Object fetch(EasyCache cache) throws Throwable {
        List<Object> elements = BatchMethod.elements(
                invocation.getArguments()[method.parameter()],
                operation.key().texts().get(0),
                operation.spec().prefix());
        return method.result(elements, cache.fetchAll(operation.spec(), elements, this));
    }

    @Override
    public Map<Object, Object> load(Collection<Object> missing) throws Throwable {
        Object[] arguments = method.arguments(invocation.getArguments(), missing);
        Object result = ExposeInvocationInterceptor.INSTANCE.invoke(invocation.invocableClone(arguments));
        return method.byElement(operation.reloads().where(), missing, arguments[method.parameter()], result);
    }

    @Override
    public @Nullable BatchLoader<Object, Object, Throwable> forBackground() {
        Object[] others = method.withoutElements(invocation.getArguments());
        Object[] arguments = operation.reloads().arePossible() ? ArgumentCopies.of(others) : null;
        return arguments == null
                ? null
                : new CachedBatchCall((ProxyMethodInvocation) invocation.invocableClone(arguments), operation, method);
    }
}
