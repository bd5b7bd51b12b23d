package io.easykit.cache.springcache;

import io.easykit.cache.aop.HeldArguments;
import io.easykit.cache.aop.SpringDeclarations;
import io.easykit.cache.aop.TransactionalMethods;
import io.easykit.cache.springcache.OperationEvaluator.Call;
import io.easykit.cache.springcache.OperationEvaluator.Evaluation;
import java.util.List;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.cache.Cache;
import org.springframework.core.MethodClassKey;

/**
 * Runs methods with Spring's cache annotations by the protocol of easy-cache.
 *
 * <h2>Why Spring's interceptor does not run them</h2>
 *
 * <ul>
 *   <li>It evicts after the method. At that time nothing can be prepared before the commit, and a process that dies in between
 *       leaves the old value.
 *   <li>Without {@code sync} it calls {@code get}, the method and {@code put}. A ticket of the {@code get} would fence the
 *       {@code put}, but a web request with an open session gets none, since its session may be older. A loader runs apart from
 *       that session.
 *   <li>It calls the method by an invocation that cannot be repeated, as a CP read that an update has overtaken needs it.
 * </ul>
 *
 * So this interceptor stands around it. It evaluates the annotations with Spring's code, reads or updates, and lets the call of the
 * method pass Spring's interceptor ({@link OperationBypass}).
 *
 * <p>A call whose annotations name a cache of another manager is left to Spring's interceptor as a whole. Then calls of our caches
 * reach {@link SpringCache}.
 */
final class SpringCacheInterceptor implements MethodInterceptor {

    private final Supplier<SpringCacheMethods> methods;
    private final Supplier<SpringCacheManager> manager;
    private final Supplier<TransactionalMethods> transactional;
    private final OperationEvaluator evaluator;

    SpringCacheInterceptor(
            ConfigurableListableBeanFactory beans,
            Supplier<SpringCacheMethods> methods,
            Supplier<SpringCacheManager> manager,
            Supplier<TransactionalMethods> transactional) {
        this.methods = methods;
        this.manager = manager;
        this.transactional = transactional;
        this.evaluator = new OperationEvaluator(() -> SpringCacheInfrastructure.interceptor(beans), beans);
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        SpringCacheMethods all = methods.get();
        if (target == null || !all.isComplete() || !evaluator.isReady()) {
            return invocation.proceed();
        }
        Class<?> targetClass = AopProxyUtils.ultimateTargetClass(target);
        AnnotatedMethod method =
                all.find(invocation.getMethod(), SpringDeclarations.declaringClass(target, invocation.getMethod()));
        if (method == null) {
            return leaveToSpring(invocation, all.bypass());
        }
        HeldArguments arguments = method.isRead() && method.returned().isLater()
                ? HeldArguments.copiesOf((ProxyMethodInvocation) invocation)
                : HeldArguments.of((ProxyMethodInvocation) invocation);
        Call call = new Call(
                target,
                targetClass,
                invocation.getMethod(),
                arguments.invocation().getArguments());
        List<Evaluation> evaluations = evaluator.evaluate(method.operations(), call);
        if (AnnotatedMethod.isMixed(method.operations()) || !areOwn(evaluations)) {
            return leaveToSpring(invocation, all.bypass());
        }
        PassedCall passed = new PassedCall(arguments, call, method, all.bypass());
        AdapterParts parts = manager.get().parts();
        return method.isRead()
                ? new SpringRead(parts, evaluator, passed).run(evaluations)
                : new SpringUpdate(parts, evaluator, passed, joins(invocation, targetClass)).run(evaluations);
    }

    /** The call may come from inside a call of the same method that passes. */
    private static @Nullable Object leaveToSpring(MethodInvocation invocation, OperationBypass bypass)
            throws Throwable {
        MethodClassKey before = bypass.suspend();
        try {
            return invocation.proceed();
        } finally {
            bypass.restore(before);
        }
    }

    private boolean joins(MethodInvocation invocation, Class<?> targetClass) {
        return transactional.get().joinTransaction(invocation.getMethod(), targetClass);
    }

    private boolean areOwn(List<Evaluation> evaluations) {
        AdapterParts parts = manager.get().parts();
        for (Evaluation evaluation : evaluations) {
            for (Cache cache : evaluation.caches()) {
                if (!(cache instanceof SpringCache own && own.isOf(parts))) {
                    return false;
                }
            }
        }
        return true;
    }
}
