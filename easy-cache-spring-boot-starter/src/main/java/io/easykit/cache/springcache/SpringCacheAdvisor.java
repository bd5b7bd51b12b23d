package io.easykit.cache.springcache;

import io.easykit.cache.aop.CacheAdvisor;
import io.easykit.cache.aop.TransactionalMethods;
import java.lang.reflect.Method;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.Pointcut;
import org.springframework.aop.support.AbstractPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.cache.annotation.AnnotationCacheOperationSource;
import org.springframework.cache.interceptor.CacheOperationSource;

/**
 * Runs methods with Spring's cache annotations, around Spring's own interceptor and, in the usual order, around the transaction of
 * the method.
 */
public final class SpringCacheAdvisor extends AbstractPointcutAdvisor {

    private static final long serialVersionUID = 1L;

    private final transient Pointcut pointcut = new AnnotatedMethods();
    private final transient Advice advice;
    private final transient ConfigurableListableBeanFactory beans;

    public SpringCacheAdvisor(
            ConfigurableListableBeanFactory beans,
            Supplier<SpringCacheMethods> methods,
            Supplier<SpringCacheManager> manager,
            Supplier<TransactionalMethods> transactional) {
        this.beans = beans;
        this.advice = new SpringCacheInterceptor(beans, methods, manager, transactional);
    }

    /** Known when Spring sorts the advisors. */
    @Override
    public int getOrder() {
        return SpringCacheInfrastructure.orderOutside(beans, CacheAdvisor.READ_ORDER);
    }

    @Override
    public Pointcut getPointcut() {
        return pointcut;
    }

    @Override
    public Advice getAdvice() {
        return advice;
    }

    private static final class AnnotatedMethods extends StaticMethodMatcherPointcut {

        private final CacheOperationSource source = new AnnotationCacheOperationSource(false);

        @Override
        public boolean matches(Method method, Class<?> targetClass) {
            return source.hasCacheOperations(method, targetClass);
        }

        @Override
        public ClassFilter getClassFilter() {
            return source::isCandidateClass;
        }
    }
}
