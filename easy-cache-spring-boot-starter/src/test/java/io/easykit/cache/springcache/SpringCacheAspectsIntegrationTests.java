package io.easykit.cache.springcache;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.springcache.SpringShop.Product;
import io.easykit.cache.springcache.SpringShop.Products;
import io.easykit.test.RedisServer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.cache.interceptor.CacheResolver;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.test.util.AopTestUtils;

/** An aspect between easy-cache's interceptor and that of Spring which calls the method again if it fails. */
class SpringCacheAspectsIntegrationTests {

    /** Thrown by the first attempt. */
    private static final class Busy extends RuntimeException {

        private static final long serialVersionUID = 1L;
    }

    /** Positive numbers are in a cache of easy-cache, negative ones in a map. */
    static class Numbers {

        private final ObjectProvider<Numbers> self;
        final AtomicInteger calls = new AtomicInteger();

        Numbers(ObjectProvider<Numbers> self) {
            this.self = self;
        }

        @Cacheable(cacheResolver = "chosen")
        public Long find(long number) {
            calls.incrementAndGet();
            return number > 0 ? self.getObject().find(-number) : number;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCaching
    @Import(SpringShop.Application.class)
    static class Application {

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static DefaultPointcutAdvisor retry() {
            NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
            pointcut.setClassFilter(Products.class::isAssignableFrom);
            pointcut.setMappedNames("find*", "rename*");
            DefaultPointcutAdvisor advisor =
                    new DefaultPointcutAdvisor(pointcut, (MethodInterceptor) SpringCacheAspectsIntegrationTests::twice);
            advisor.setOrder(Ordered.LOWEST_PRECEDENCE - 5);
            return advisor;
        }

        @Bean
        CacheResolver chosen(SpringCacheManager own) {
            CacheManager maps = new ConcurrentMapCacheManager();
            return context -> {
                CacheManager manager = (long) context.getArgs()[0] > 0 ? own : maps;
                return List.of(manager.getCache("chosen-number"));
            };
        }

        @Bean
        Numbers numbers(ObjectProvider<Numbers> self) {
            return new Numbers(self);
        }
    }

    private static Object twice(MethodInvocation invocation) throws Throwable {
        try {
            return ((ProxyMethodInvocation) invocation).invocableClone().proceed();
        } catch (Busy busy) {
            return invocation.proceed();
        }
    }

    private static final AtomicInteger IDS = new AtomicInteger(3_000_000);
    private static ConfigurableApplicationContext context;

    private final long id = IDS.incrementAndGet();
    private final Products products = context.getBean(Products.class);
    private final Products target = AopTestUtils.getTargetObject(products);

    @BeforeAll
    static void start() {
        RedisServer.shared().flush();
        context = SpringShop.start(Application.class);
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @BeforeEach
    void addProduct() {
        SpringShop.add(context, new Product(id, "old"));
        target.loads.set(0);
        target.beforeCommit = () -> {};
        target.meanwhile = () -> {
            throw new Busy();
        };
    }

    @Test
    void theSecondAttemptOfAReadIsStored() {
        assertThat(products.find(id).name()).isEqualTo("old");
        assertThat(products.find(id).name()).isEqualTo("old");
        assertThat(target.loads).hasValue(2);
    }

    @Test
    void theSecondAttemptOfAStrongReadIsStored() {
        assertThat(products.findStrong(id).name()).isEqualTo("old");
        assertThat(products.findStrong(id).name()).isEqualTo("old");
        assertThat(target.loads).hasValue(2);
    }

    @Test
    void theSecondAttemptOfAStrongUpdateIsPartOfIt() {
        target.meanwhile = () -> {};
        assertThat(products.findStrong(id).name()).isEqualTo("old");
        target.beforeCommit = () -> {
            target.beforeCommit = () -> {};
            throw new Busy();
        };

        products.renameStrong(new Product(id, "new"));

        assertThat(products.findStrong(id).name()).isEqualTo("new");
    }

    /** The bypass of the outer call must not apply to it. */
    @Test
    void aCallOfTheSameMethodInsideIsCachedToo() {
        long inner = IDS.incrementAndGet();
        SpringShop.add(context, new Product(inner, "inner"));
        target.meanwhile = () -> products.find(inner);

        assertThat(products.find(id).name()).isEqualTo("old");
        assertThat(products.find(inner).name()).isEqualTo("inner");
        assertThat(target.loads).hasValue(2);
    }

    @Test
    void aCallInsideThatUsesAnotherManagerIsLeftToSpring() {
        Numbers numbers = context.getBean(Numbers.class);

        assertThat(numbers.find(id)).isEqualTo(-id);
        assertThat(numbers.find(-id)).isEqualTo(-id);

        assertThat(AopTestUtils.<Numbers>getTargetObject(numbers).calls).hasValue(2);
    }
}
