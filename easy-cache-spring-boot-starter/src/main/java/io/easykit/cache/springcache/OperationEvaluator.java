package io.easykit.cache.springcache;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.cache.Cache;
import org.springframework.cache.interceptor.CacheAspectSupport;
import org.springframework.cache.interceptor.CacheInterceptor;
import org.springframework.cache.interceptor.CacheOperation;
import org.springframework.cache.interceptor.CacheResolver;

/**
 * Evaluates the attributes of Spring's cache annotations with Spring's own code: keys, key generators, conditions and caches. It
 * never executes an operation.
 */
final class OperationEvaluator extends CacheAspectSupport {

    private final Supplier<@Nullable CacheInterceptor> configured;
    private volatile boolean ready;

    /** @param configured the interceptor whose key generator and cache resolver apply */
    OperationEvaluator(Supplier<@Nullable CacheInterceptor> configured, BeanFactory beans) {
        this.configured = configured;
        setBeanFactory(beans);
    }

    /** False while Spring's cache has not started: then Spring ignores its annotations. */
    boolean isReady() {
        if (!ready) {
            CacheInterceptor interceptor = configured.get();
            CacheResolver resolver = interceptor == null ? null : interceptor.getCacheResolver();
            if (interceptor == null || resolver == null) {
                return false;
            }
            setCacheResolver(resolver);
            setKeyGenerator(interceptor.getKeyGenerator());
            ready = true;
        }
        return true;
    }

    /** Resolves the caches of all operations of a call. */
    List<Evaluation> evaluate(Collection<CacheOperation> operations, Call call) {
        List<Evaluation> evaluations = new ArrayList<>(operations.size());
        for (CacheOperation operation : operations) {
            evaluations.add(new Evaluation(operation, call));
        }
        return evaluations;
    }

    /** A call of an annotated method. */
    static final class Call {

        private final Object target;
        private final Class<?> targetClass;
        private final Method method;
        private final @Nullable Object[] arguments;

        /** @param targetClass class of the bean */
        Call(Object target, Class<?> targetClass, Method method, @Nullable Object[] arguments) {
            this.target = target;
            this.targetClass = targetClass;
            this.method = method;
            this.arguments = arguments;
        }

        Class<?> targetClass() {
            return targetClass;
        }

        Method method() {
            return method;
        }

        /** The same call with other arguments. */
        Call with(@Nullable Object[] others) {
            return new Call(target, targetClass, method, others);
        }
    }

    /** One operation of one call. Its condition is evaluated once. */
    final class Evaluation extends CacheOperationContext {

        Evaluation(CacheOperation operation, Call call) {
            super(
                    OperationEvaluator.this.getCacheOperationMetadata(operation, call.method, call.targetClass),
                    call.arguments,
                    call.target);
        }

        Collection<? extends Cache> caches() {
            return getCaches();
        }

        boolean applies(@Nullable Object result) {
            return isConditionPassing(result);
        }

        @Nullable Object key(@Nullable Object result) {
            return generateKey(result);
        }

        /** Whether {@code unless} allows to store a value. */
        boolean mayStore(@Nullable Object value) {
            return canPutToCache(value);
        }
    }
}
