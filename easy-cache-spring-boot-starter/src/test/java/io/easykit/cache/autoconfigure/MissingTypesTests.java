package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.aop.CachedMethods;
import io.easykit.test.ClassesWithout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Configuration;

/** A bean that is created on demand may use classes of an optional dependency that the application does not have. */
class MissingTypesTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    DataRedisAutoConfiguration.class,
                    EasyCacheAutoConfiguration.class,
                    EasyCacheSpringCacheAutoConfiguration.class))
            .withUserConfiguration(Caching.class)
            .withPropertyValues("spring.data.redis.port=1", "easy-cache.spring-cache.enabled=true");

    @Configuration(proxyBeanMethods = false)
    @EnableCaching
    static class Caching {}

    static class Optional {}

    static class Exporter {
        @Cacheable(prefix = "file", keys = "#id")
        public String file(long id) {
            return "";
        }

        @org.springframework.cache.annotation.Cacheable("page")
        public String page(long id) {
            return "";
        }

        public void export(Optional format) {}
    }

    /** Its superclass cannot be read. */
    static class Report extends Exporter {
        @Cacheable(prefix = "report", keys = "#id")
        public String report(long id) {
            return "";
        }
    }

    static class Files {
        @Cacheable(prefix = "file", keys = "#id")
        public String file(long id) {
            return "";
        }
    }

    private static Class<?> withoutOptional(Class<?> type) {
        return new ClassesWithout(Optional.class, Exporter.class, Report.class).load(type);
    }

    private ApplicationContextRunner with(Class<?> type, String scope) {
        RootBeanDefinition bean = new RootBeanDefinition(withoutOptional(type));
        bean.setScope(scope);
        bean.setLazyInit(true);
        return runner.withBean(Files.class).withInitializer(context -> ((BeanDefinitionRegistry) context)
                .registerBeanDefinition("onDemand", bean));
    }

    @ParameterizedTest
    @ValueSource(classes = {Exporter.class, Report.class})
    void doNotFailTheStart(Class<?> type) {
        for (String scope : new String[] {"singleton", "prototype"}) {
            with(type, scope).run(context -> {
                assertThat(context).hasNotFailed();
                assertThat(context.getBean(CachedMethods.class).declared()).hasSize(1);
            });
        }
    }

    @Test
    void failTheCreationOfTheirBean() {
        with(Exporter.class, "singleton").run(context -> assertThatThrownBy(() -> context.getBean("onDemand"))
                .isInstanceOf(BeanCreationException.class)
                .hasRootCauseInstanceOf(ClassNotFoundException.class)
                .hasStackTraceContaining(Exporter.class.getName()));
    }
}
