package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.Consistency;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.Advisor;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.BeanFactoryTransactionAttributeSourceAdvisor;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The order of our advisors and the transaction advisor. An update works on either side of it. */
class AdvisorOrderIntegrationTests {

    static class Accounts {

        private List<String> fieldsAtCommit = List.of();

        @Cacheable(prefix = "account", keys = "#id", consistency = Consistency.CP)
        @Transactional(readOnly = true)
        public String find(long id) {
            return "balance";
        }

        @UpdateCache(prefix = "account", keys = "#id")
        @Transactional
        public long update(long id) {
            lookAtCommit("ec:account::" + id);
            return id;
        }

        @UpdateCache(prefix = "account", keys = "#result")
        @Transactional
        public long insert(long id) {
            lookAtCommit("ec:account::" + id);
            return id;
        }

        /**
         * Registered before the cache's own synchronization, so called before it: records the state of Redis between
         * commit and completion.
         */
        private void lookAtCommit(String key) {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCommit() {
                    fieldsAtCommit = fieldsOf(key);
                }
            });
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCacheAndDatabase
    @Import(Accounts.class)
    static class Bank {}

    @BeforeEach
    void flush() {
        RedisServer.shared().flush();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void readsOutsideAndUpdatesInsideTheTransaction(boolean aspectj) {
        try (ConfigurableApplicationContext context = start(aspectj)) {
            List<Advisor> advisors = Arrays.asList(((Advised) context.getBean(Accounts.class)).getAdvisors());
            assertThat(advisors)
                    .filteredOn(isOneOf(context))
                    .containsExactly(
                            context.getBean("easyCacheReadAdvisor", Advisor.class),
                            context.getBean("easyCacheOuterUpdateAdvisor", Advisor.class),
                            transactionAdvisor(context),
                            context.getBean("easyCacheUpdateAdvisor", Advisor.class));
            assertThat(context.getBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)
                            .getClass()
                            .getSimpleName())
                    .startsWith(aspectj ? "AnnotationAwareAspectJ" : "Infrastructure");
            shouldPrepareBeforeTheCommit(context.getBean(Accounts.class), true);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void isRightOnEitherSideOfTheTransaction(boolean updateInside) {
        try (ConfigurableApplicationContext context = start(true)) {
            Advisor update = context.getBean("easyCacheUpdateAdvisor", Advisor.class);
            Advisor transaction = transactionAdvisor(context);
            ProxyFactory factory = new ProxyFactory(new Accounts());
            factory.setProxyTargetClass(true);
            factory.addAdvisor(new DefaultPointcutAdvisor((MethodInterceptor) call -> call.proceed()));
            factory.addAdvisor(updateInside ? transaction : update);
            factory.addAdvisor(updateInside ? update : transaction);
            shouldPrepareBeforeTheCommit((Accounts) factory.getProxy(), updateInside);
        }
    }

    /** If the transaction is inside, a key over the result is known only after the commit. */
    private static void shouldPrepareBeforeTheCommit(Accounts accounts, boolean resultIsInTime) {
        Accounts target = target(accounts);
        assertThat(accounts.update(1)).isEqualTo(1);
        assertThat(target.fieldsAtCommit).anyMatch(field -> field.startsWith("i:"));
        assertThat(fieldsOf("ec:account::1")).isEmpty();

        target.fieldsAtCommit = List.of();
        seedValue("ec:account::2");
        assertThat(accounts.insert(2)).isEqualTo(2);
        assertThat(target.fieldsAtCommit.stream().anyMatch(field -> field.startsWith("i:")))
                .isEqualTo(resultIsInTime);
        assertThat(fieldsOf("ec:account::2")).isEmpty();
    }

    private static ConfigurableApplicationContext start(boolean aspectj) {
        return new SpringApplicationBuilder(Bank.class)
                .properties(
                        "spring.aop.auto=" + aspectj,
                        "spring.data.redis.host=" + RedisServer.shared().host(),
                        "spring.data.redis.port=" + RedisServer.shared().port(),
                        "spring.datasource.url=jdbc:h2:mem:advisor-order",
                        "easy-cache.command-timeout=10s")
                .run();
    }

    private static Predicate<Advisor> isOneOf(ConfigurableApplicationContext context) {
        return context.getBeansOfType(Advisor.class).values()::contains;
    }

    private static Advisor transactionAdvisor(ConfigurableApplicationContext context) {
        return context.getBean(BeanFactoryTransactionAttributeSourceAdvisor.class);
    }

    private static Accounts target(Accounts proxy) {
        return AopTestUtils.getTargetObject(proxy);
    }

    private static void seedValue(String key) {
        try (RawRedis redis = RedisServer.shared().connect()) {
            redis.command("HSET", key, "v", "any");
            redis.command("PEXPIRE", key, "60000");
        }
    }

    private static List<String> fieldsOf(String key) {
        try (RawRedis redis = RedisServer.shared().connect()) {
            return ((List<?>) redis.command("HKEYS", key))
                    .stream().map(field -> RawRedis.text((byte[]) field)).toList();
        }
    }
}
