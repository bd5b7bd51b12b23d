package io.easykit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.autoconfigure.EasyCacheAutoConfiguration;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.autoconfigure.DelayQueueAutoConfiguration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A bean created before the post-processors of both products works without them, which must be reported. */
@ExtendWith(OutputCaptureExtension.class)
class EarlyBeansTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    DataRedisAutoConfiguration.class,
                    EasyCacheAutoConfiguration.class,
                    DelayQueueAutoConfiguration.class))
            .withPropertyValues("spring.data.redis.port=1", "delay-queue.auto-startup=false");

    static class Users {
        @Cacheable(prefix = "user", keys = "#id")
        public String find(long id) {
            return "";
        }

        @DelayListener(topic = "users")
        public void on(String message) {}
    }

    @Configuration(proxyBeanMethods = false)
    static class Early {
        @Bean
        static Users users() {
            return new Users();
        }

        @Bean
        static BeanFactoryPostProcessor needsUsers() {
            return beans -> beans.getBean(Users.class);
        }
    }

    @Test
    void warnsOfABeanThatWasCreatedTooEarly(CapturedOutput output) {
        runner.withUserConfiguration(Early.class)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains(Users.class.getName() + " of bean 'users' has annotated methods that are not intercepted")
                .contains("Listeners of bean 'users'")
                .contains("ObjectProvider");
    }

    static class Misspelt {
        @UpdateCache(prefix = "usr", keys = "#id")
        public void rename(long id) {}
    }

    /** They may not exist yet, but no application puts an annotation on them. */
    @Test
    void blamesNoBeanOfTheProductsForAWrongPrefix() {
        for (String[] settings : List.of(new String[0], new String[] {"easy-cache.defaults.ttl=soon"})) {
            runner.withBean("users", Users.class)
                    .withBean(Misspelt.class)
                    .withPropertyValues(settings)
                    .run(context -> assertThat(context.getStartupFailure())
                            .hasMessageContaining("no @Cacheable has the prefix 'usr'")
                            .message()
                            .doesNotContain("delayQueue", "easyCache"));
        }
    }

    @Test
    void warnsOfNoOtherBean(CapturedOutput output) {
        runner.withBean("users", Users.class).run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("not intercepted").doesNotContain("receive no messages");
    }
}
