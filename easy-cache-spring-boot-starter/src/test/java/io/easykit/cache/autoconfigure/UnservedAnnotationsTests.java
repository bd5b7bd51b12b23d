package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Spring's annotations were imported in place of those of easy-cache. */
@ExtendWith(OutputCaptureExtension.class)
class UnservedAnnotationsTests {

    private static final String LINE = "neither cache nor invalidate, because nothing serves these annotations: ";

    interface Catalog {

        @Cacheable("title")
        String title(long id);
    }

    static class Books implements Catalog {

        @Override
        public String title(long id) {
            return "Emma";
        }

        @CacheEvict("title")
        public void rename(long id) {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCaching
    static class Caching {

        @Bean
        ConcurrentMapCacheManager manager() {
            return new ConcurrentMapCacheManager();
        }
    }

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    DataRedisAutoConfiguration.class,
                    EasyCacheAutoConfiguration.class,
                    EasyCacheSpringCacheAutoConfiguration.class))
            .withPropertyValues("spring.data.redis.port=1")
            .withBean("books", Books.class);

    @Test
    void areNamedAtTheStart(CapturedOutput output) {
        runner.run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .containsOnlyOnce(
                        LINE + "UnservedAnnotationsTests.Books.rename(long) of bean 'books',"
                                + " UnservedAnnotationsTests.Books.title(long) of bean 'books'. Import Cacheable or UpdateCache");
    }

    @Test
    void areNamedForALazyBean(CapturedOutput output) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class, DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
                .withPropertyValues("spring.data.redis.port=1")
                .withBean("books", Books.class, Books::new, definition -> definition.setLazyInit(true))
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).containsOnlyOnce(LINE);
    }

    @Test
    void areServedBySpring(CapturedOutput output) {
        runner.withUserConfiguration(Caching.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).doesNotContain(LINE);
    }

    @Test
    void areExplainedByTheAdapterIfItIsSwitchedOn(CapturedOutput output) {
        runner.withPropertyValues("easy-cache.spring-cache.enabled=true")
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).doesNotContain(LINE).contains("Spring's cache annotations are not enabled");
    }
}
