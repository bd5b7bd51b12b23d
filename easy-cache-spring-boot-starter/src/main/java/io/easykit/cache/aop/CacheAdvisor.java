package io.easykit.cache.aop;

import io.easykit.boot.AheadOfTime;
import io.easykit.cache.EasyCache;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.async.Futures;
import java.lang.reflect.Method;
import java.util.function.BiPredicate;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AbstractPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.Ordered;

/**
 * Applies an interceptor to the methods with its annotation.
 *
 * <p>A read runs outside a transaction, so that a hit opens no connection, and inside security checks. An update runs
 * as far inside as possible: it has the precedence of the transaction advisor, and follows it if that is registered
 * earlier. An update of a serial cache waits for its turn where a read runs, before its transaction. An update that
 * returns a future or a publisher runs there as a whole.
 */
public final class CacheAdvisor extends AbstractPointcutAdvisor {

    private static final long serialVersionUID = 1L;
    /** Around the transaction of the method. */
    public static final int READ_ORDER = Ordered.LOWEST_PRECEDENCE - 1000;

    private final transient Pointcut pointcut;
    private final transient Advice advice;

    private CacheAdvisor(Pointcut pointcut, Advice advice, int order) {
        this.pointcut = pointcut;
        this.advice = advice;
        setOrder(order);
    }

    /**
     * Creates the advisor of {@link Cacheable}.
     *
     * @param futures runs methods that return futures or publishers
     */
    public static CacheAdvisor forReads(
            Supplier<CachedMethods> methods, Supplier<EasyCache> cache, Supplier<Futures> futures) {
        return new CacheAdvisor(
                pointcut((method, type) ->
                        !CacheAnnotations.cacheable(method, type).isEmpty() && !isRefused(methods, type)),
                new CacheableInterceptor(methods, cache, futures),
                READ_ORDER);
    }

    /**
     * Creates the advisor of {@link UpdateCache}.
     *
     * @param transactional methods whose update belongs to the present transaction only
     */
    public static CacheAdvisor forUpdates(
            Supplier<CachedMethods> methods, Supplier<EasyCache> cache, Supplier<TransactionalMethods> transactional) {
        return new CacheAdvisor(
                updates(methods), new UpdateCacheInterceptor(methods, cache, transactional), Ordered.LOWEST_PRECEDENCE);
    }

    /**
     * Creates the advisor of updates that have to surround the transaction of their method: those of serial caches, which wait
     * for their turn, and those of methods that return futures or publishers.
     *
     * @param transactional methods with a transaction of their own, which must begin after the turn
     * @param futures runs methods that return futures or publishers
     */
    public static CacheAdvisor forOuterUpdates(
            Supplier<CachedMethods> methods,
            Supplier<EasyCache> cache,
            Supplier<TransactionalMethods> transactional,
            Supplier<Futures> futures) {
        return new CacheAdvisor(
                updates(methods), new OuterUpdateInterceptor(methods, cache, transactional, futures), READ_ORDER);
    }

    private static Pointcut updates(Supplier<CachedMethods> methods) {
        return pointcut(
                (method, type) -> !CacheAnnotations.updateCache(method, type).isEmpty() && !isRefused(methods, type));
    }

    /** Ahead-of-time processing looks for the classes of proxies, and has not the settings that the methods need. */
    private static boolean isRefused(Supplier<CachedMethods> methods, Class<?> type) {
        return !AheadOfTime.isProcessing() && methods.get().isRefused(type);
    }

    @Override
    public Pointcut getPointcut() {
        return pointcut;
    }

    @Override
    public Advice getAdvice() {
        return advice;
    }

    private static Pointcut pointcut(BiPredicate<Method, Class<?>> isAnnotated) {
        return new StaticMethodMatcherPointcut() {
            @Override
            public boolean matches(Method method, Class<?> targetClass) {
                return isAnnotated.test(method, targetClass);
            }

            @Override
            public ClassFilter getClassFilter() {
                return CacheAnnotations::areIn;
            }
        };
    }
}
