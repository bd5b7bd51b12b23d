package io.easykit.console.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.EasyCache;
import io.easykit.console.ConsoleApi;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** The console in a test of an application that replaces the products. */
class ReplacedProductsTests {

    @Nested
    class ByMocks extends Base {

        @MockitoBean
        EasyCache cache;

        @MockitoBean
        DelayQueueEngine engine;

        @Test
        void showsNeither(@Autowired ServedConsole console, @Autowired ObjectProvider<ConsoleApi> apis) {
            assertThat(console).isNotNull();
            assertThat(apis.stream()).isEmpty();
        }
    }

    @Nested
    class ByAMockOfTheAdmin extends Base {

        @MockitoBean
        DelayQueueAdmin admin;

        @Test
        void showsBoth(@Autowired ObjectProvider<ConsoleApi> apis) {
            assertThat(apis.stream()).hasSize(4);
        }
    }

    @SpringBootTest(classes = Application.class)
    @TestPropertySource(properties = {"spring.data.redis.port=1", "easykit.console.open-to=everyone"})
    abstract static class Base {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
