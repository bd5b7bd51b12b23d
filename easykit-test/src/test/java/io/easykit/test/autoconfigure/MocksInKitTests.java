package io.easykit.test.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

import io.easykit.cache.EasyCache;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.test.EasyCacheTester;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.test.DelayQueueTester;
import java.time.Duration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** Tests with the kit that replace a part of the products. */
class MocksInKitTests {

    @Nested
    class OfTheCache extends Base {

        @MockitoBean
        EasyCache cache;

        @Test
        void startsAndCallsIt(@Autowired ObjectProvider<EasyCacheTester> tester) {
            assertThat(prices.of(1)).isNull();

            verify(cache).fetch(any(), any());
            assertThat(tester.stream()).isEmpty();
        }
    }

    @Nested
    @Import(ACacheOfTheApplication.Own.class)
    class ACacheOfTheApplication extends Base {

        @Configuration(proxyBeanMethods = false)
        static class Own {

            @Bean
            EasyCache ownCache() {
                return mock(EasyCache.class);
            }
        }

        @Test
        void startsWithoutATester(@Autowired ObjectProvider<EasyCacheTester> tester) {
            assertThat(prices.of(1)).isNull();
            assertThat(tester.stream()).isEmpty();
        }
    }

    @Nested
    class OfTheTemplate extends Base {

        @MockitoBean
        DelayQueueTemplate template;

        @Autowired
        DelayQueueTester queue;

        @Test
        void startsAndSendsByTheMock() {
            prices.announce();
            verify(template).send("mail", "new prices", Duration.ZERO);

            queue.runDue();
            assertThat(queue).hasNotRun("mail");
        }
    }

    @Nested
    class OfTheEngineOfTheQueue extends Base {

        @MockitoBean
        DelayQueueEngine engine;

        @Test
        void starts() {
            assertThat(prices.of(1)).isEqualTo("19.90");
        }
    }

    @SpringBootTest(classes = Application.class, properties = "spring.data.redis.port=1")
    @AutoConfigureTestEasykit
    abstract static class Base {

        @Autowired
        Prices prices;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Prices.class)
    static class Application {}

    static class Prices {

        private final ObjectProvider<DelayQueueTemplate> queue;

        Prices(ObjectProvider<DelayQueueTemplate> queue) {
            this.queue = queue;
        }

        @Cacheable(prefix = "price", keys = "#id")
        public String of(long id) {
            return "19.90";
        }

        public void announce() {
            queue.getObject().send("mail", "new prices", Duration.ZERO);
        }

        @DelayListener(topic = "mail")
        public void on(String text) {}
    }
}
