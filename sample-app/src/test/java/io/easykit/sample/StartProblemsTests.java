package io.easykit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.EasyCache;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.autoconfigure.EasyCacheAutoConfiguration;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.autoconfigure.DelayQueueAutoConfiguration;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;

/** One start reports the mistakes of both products. */
@ExtendWith(OutputCaptureExtension.class)
class StartProblemsTests {

    private static final List<String> SETTINGS = List.of(
            "easy-cache.comand-timeout=1s",
            "easy-cache.key-prefix={shop}:",
            "easy-cache.defaults.ttl=soon",
            "easy-cache.caches.user.ttl-jitter=2",
            "easy-cache.degraded.concurrent-loads=0",
            "easy-cache.clusters.trade.ur=redis://trade",
            "easy-cache.clusters.stock.url=http://shop:secret@stock",
            "easy-cache.clusters.price.ssl.bundle=none",
            "delay-queue.enabled=maybe",
            "delay-queue.command-timeout=0s",
            "delay-queue.topics.orders.leese=1s",
            "delay-queue.defaults.concurrency=many");

    private static final List<String> REPORTED_SETTINGS = List.of(
            "easy-cache.comand-timeout",
            "easy-cache.key-prefix is '{shop}:'",
            "easy-cache.defaults.ttl is 'soon'",
            "easy-cache.caches.user.ttl-jitter is 2.0",
            "easy-cache.degraded.concurrent-loads is 0",
            "easy-cache.clusters.trade.ur ",
            "easy-cache.clusters.stock.url is a URL of the scheme 'http'",
            "easy-cache.clusters.price.ssl.bundle is 'none'",
            "delay-queue.enabled is 'maybe'",
            "delay-queue.command-timeout is 0s",
            "delay-queue.topics.orders.leese",
            "delay-queue.defaults.concurrency is 'many'");

    private static final List<String> REPORTED_DECLARATIONS = List.of(
            "Users.find(long): '#idd' in keys names #idd, which is no parameter",
            "Users.future(long): '#id.foo' in keys uses the property 'foo'",
            "Users.rename(long): no @Cacheable has the prefix 'usr'",
            "Users.onOtherCluster(long): the Redis cluster 'trde' is not configured",
            "Orders.close(String) of bean 'orders': a static method",
            "Orders.pay(String) of bean 'orders': lease is 'a while'",
            "Orders.none() of bean 'orders': it has no parameter for the payload",
            "Reminders.remind(String) of bean 'reminders': the bean is created on demand only");

    static class Users {
        @Cacheable(prefix = "user", keys = "#idd")
        public String find(long id) {
            return "";
        }

        @Cacheable(prefix = "future", keys = "#id.foo")
        public String future(long id) {
            return "";
        }

        @UpdateCache(prefix = "usr", keys = "#id")
        public void rename(long id) {}

        @Cacheable(prefix = "other", keys = "#id", clusterId = "trde")
        public String onOtherCluster(long id) {
            return "";
        }

        /** Its cluster exists, with an invalid setting. */
        @Cacheable(prefix = "trade", keys = "#id", clusterId = "trade")
        public String onTheClusterWithTheMisspeltSetting(long id) {
            return "";
        }
    }

    static class Orders {
        @DelayListener(topic = "close")
        static void close(String order) {}

        @DelayListener(topic = "pay", lease = "a while")
        void pay(String order) {}

        @DelayListener(topic = "none")
        void none() {}
    }

    static class Reminders {
        @DelayListener(topic = "reminders")
        void remind(String order) {}
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        SslAutoConfiguration.class,
        DataRedisAutoConfiguration.class,
        EasyCacheAutoConfiguration.class,
        DelayQueueAutoConfiguration.class
    })
    static class Shop {
        @Bean
        Users users() {
            return new Users();
        }

        @Bean
        Orders orders() {
            return new Orders();
        }

        @Bean
        @Lazy
        Reminders reminders() {
            return new Reminders();
        }
    }

    @Import(Shop.class)
    static class WithTradeCluster {}

    /** Created first, needs both products, and would fail with a message of its own. */
    @Import(Shop.class)
    static class EagerShop {
        @Bean
        String eager(EasyCache cache, DelayQueueTemplate queue) {
            queue.send("orders", "at the start", Duration.ofDays(1));
            throw new IllegalStateException("hides the report");
        }
    }

    @Test
    void oneStartReportsTheSettingsAndDeclarationsOfBothProducts(CapturedOutput output) {
        fails(EagerShop.class, SETTINGS);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains(REPORTED_SETTINGS)
                .contains(REPORTED_DECLARATIONS)
                .contains("20. ")
                .doesNotContain("\n21. ")
                .doesNotContain("cluster 'trade'", "secret", "hides the report", "\tat ");
    }

    @Test
    void oneStartReportsTheDeclarationsOfBothProducts(CapturedOutput output) {
        fails(WithTradeCluster.class, List.of("easy-cache.clusters.trade.port=1"));

        assertThat(output)
                .contains(REPORTED_DECLARATIONS)
                .contains("8. ")
                .doesNotContain("\n9. ")
                .doesNotContain("\tat ");
    }

    private static void fails(Class<?> shop, List<String> settings) {
        SpringApplication application = new SpringApplicationBuilder(shop)
                .web(WebApplicationType.NONE)
                .properties("spring.config.location=optional:classpath:/none/", "spring.data.redis.port=1")
                .properties(settings.toArray(String[]::new))
                .build();
        assertThatThrownBy(application::run).isInstanceOf(RuntimeException.class);
    }
}
