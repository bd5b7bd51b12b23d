package io.easykit.cache.autoconfigure;

import static io.easykit.cache.autoconfigure.Declarations.refuses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import java.lang.reflect.Proxy;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.PriorityOrdered;
import org.springframework.samples.petclinic.Vets;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** Annotations on beans that are no plain objects, or whose class the start cannot see. None is ignored in silence. */
@ExtendWith(OutputCaptureExtension.class)
class AnnotationPlacesTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class, DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class));

    static class Users {
        @Cacheable(prefix = "user", keys = "#id")
        public String find(long id) {
            return "Ada";
        }
    }

    interface Renames {
        void rename(long id);
    }

    /** Its prefix is misspelt. */
    static class MisspeltRenames implements Renames {
        @Override
        @UpdateCache(prefix = "usr", keys = "#id")
        public void rename(long id) {}
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyRenames {
        @Bean
        @Lazy
        Renames renames() {
            return new MisspeltRenames();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class RenamesOfAFactory {
        @Bean
        FactoryBean<Renames> renames() {
            return new FactoryBean<>() {
                @Override
                public Renames getObject() {
                    return new MisspeltRenames();
                }

                @Override
                public Class<?> getObjectType() {
                    return Renames.class;
                }
            };
        }
    }

    @Test
    void aBeanThatIsCreatedLaterIsRefusedEachTime() {
        runner.withBean(Users.class).withUserConfiguration(LazyRenames.class).run(context -> {
            assertThat(context).hasNotFailed();
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> context.getBean(Renames.class))
                        .hasStackTraceContaining("no @Cacheable has the prefix 'usr'");
            }
        });
    }

    /** The cache that the misspelt update needs. */
    static class LateReads implements Runnable {
        @Override
        public void run() {}

        @Cacheable(prefix = "usr", keys = "#id")
        public String find(long id) {
            return "Ada";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyReads {
        @Bean
        @Lazy
        Runnable reads() {
            return new LateReads();
        }
    }

    @Test
    void aBeanThatWasRefusedIsInterceptedOnceItsCacheIsThere() {
        runner.withUserConfiguration(LazyRenames.class, LazyReads.class).run(context -> {
            assertThatThrownBy(() -> context.getBean(Renames.class)).hasStackTraceContaining("'usr'");
            Object unused = context.getBean("reads");

            assertThat(AopUtils.isAopProxy(context.getBean(Renames.class))).isTrue();
        });
    }

    @Test
    void theProductOfAFactoryThatDeclaresAnInterfaceIsRefusedEachTime() {
        runner.withBean(Users.class)
                .withUserConfiguration(RenamesOfAFactory.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    for (int i = 0; i < 3; i++) {
                        assertThatThrownBy(() -> context.getBean(Renames.class))
                                .hasStackTraceContaining("no @Cacheable has the prefix 'usr'");
                    }
                });
    }

    static class GoodRenames implements Renames {
        @Override
        @UpdateCache(prefix = "user", keys = "#id")
        public void rename(long id) {}
    }

    @Configuration(proxyBeanMethods = false)
    static class ProxiedByTheApplication {
        @Bean
        Renames renames() {
            ProxyFactory factory = new ProxyFactory(Renames.class, (MethodInterceptor) call -> call.proceed());
            factory.setTarget(new GoodRenames());
            return (Renames) factory.getProxy();
        }
    }

    @Test
    void aProxyWhoseInterfacesHaveNoAnnotationIsReported(CapturedOutput output) {
        runner.withBean(Users.class)
                .withUserConfiguration(ProxiedByTheApplication.class)
                .run(context -> assertThat(output)
                        .contains("GoodRenames of bean 'renames' has annotated methods that are not intercepted"));
    }

    interface Weather {
        @Cacheable(prefix = "weather", keys = "#city")
        String of(String city);
    }

    private static Weather client(AtomicInteger calls) {
        return (Weather) Proxy.newProxyInstance(
                Weather.class.getClassLoader(),
                new Class<?>[] {Weather.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "of" -> "sunny" + calls.incrementAndGet();
                    case "hashCode" -> 1;
                    case "equals" -> proxy == arguments[0];
                    default -> "client";
                });
    }

    @Configuration(proxyBeanMethods = false)
    static class Client {
        @Bean
        static Weather weather() {
            return client(new AtomicInteger());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ClientOfAFactory {
        @Bean
        static FactoryBean<Weather> weather() {
            return new FactoryBean<>() {
                @Override
                public Weather getObject() {
                    return client(new AtomicInteger());
                }

                @Override
                public Class<?> getObjectType() {
                    return Weather.class;
                }
            };
        }
    }

    private static final class Early implements BeanPostProcessor, PriorityOrdered {
        @Override
        public int getOrder() {
            return 0;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NeededByAPostProcessor {
        @Bean
        static Early early(Weather needed) {
            return new Early();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NeededByAFactoryPostProcessor {
        @Bean
        static BeanFactoryPostProcessor early() {
            return beans -> beans.getBean(Weather.class);
        }
    }

    @Test
    void aClientThatIsCreatedTooEarlyIsReported(CapturedOutput output) {
        requireReport(output, Client.class, NeededByAPostProcessor.class, 1);
        requireReport(output, Client.class, NeededByAFactoryPostProcessor.class, 2);
        requireReport(output, ClientOfAFactory.class, NeededByAPostProcessor.class, 3);
        requireReport(output, ClientOfAFactory.class, NeededByAFactoryPostProcessor.class, 4);
    }

    private void requireReport(CapturedOutput output, Class<?> client, Class<?> early, int lines) {
        runner.withUserConfiguration(client, early).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(output.toString().split("of bean 'weather' has annotated methods", -1))
                    .as("%s with %s", client, early)
                    .hasSize(lines + 1);
        });
    }

    @Test
    void aClientThatIsCreatedInTimeIsNot(CapturedOutput output) {
        for (Class<?> client : new Class<?>[] {Client.class, ClientOfAFactory.class}) {
            runner.withUserConfiguration(client)
                    .run(context -> assertThat(AopUtils.isAopProxy(context.getBean(Weather.class)))
                            .isTrue());
        }
        assertThat(output).doesNotContain("not intercepted");
    }

    static class AsyncUsers extends Users {
        @Async
        public void rebuild() {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(proxyTargetClass = true)
    static class WithAsync {
        @Bean
        static Executor taskExecutor() {
            return Executors.newSingleThreadExecutor();
        }
    }

    @Test
    void norIsABeanWithOtherAspects(CapturedOutput output) {
        runner.withUserConfiguration(WithAsync.class).withBean(AsyncUsers.class).run(context -> assertThat(context)
                .hasNotFailed());
        assertThat(output).doesNotContain("not intercepted");
    }

    interface ById {
        @Cacheable(prefix = "one", keys = "#id")
        String find(long id);
    }

    interface Strict {
        @Cacheable(prefix = "two", keys = "#id")
        String find(long id);
    }

    static class OfBoth implements ById, Strict {
        @Override
        public String find(long id) {
            return "";
        }
    }

    static class OfBothWithItsOwn implements ById, Strict {
        @Override
        @Cacheable(prefix = "three", keys = "#id")
        public String find(long id) {
            return "";
        }
    }

    interface Narrowed extends ById {
        @Override
        @Cacheable(prefix = "narrowed", keys = "#id")
        String find(long id);
    }

    static class OfNarrowed implements Narrowed {
        @Override
        public String find(long id) {
            return "";
        }
    }

    @Test
    void twoInterfacesWithDifferentAnnotationsOnOneMethodAreRefused() {
        refuses(
                runner,
                OfBoth.class,
                "it differs from the @Cacheable on the method of " + Strict.class.getName(),
                "Put one @Cacheable on the method of " + OfBoth.class.getName());
    }

    @Test
    void anAnnotationMayReplaceThoseThatItsMethodOverrides() {
        runner.withBean(OfBothWithItsOwn.class).withBean(OfNarrowed.class).run(context -> assertThat(context)
                .hasNotFailed());
    }

    @Test
    void anApplicationInAPackageBelowSpringsIsChecked() {
        refuses(runner, Vets.class, "no @Cacheable has the prefix 'vets'", "Correct the prefix");
    }
}
