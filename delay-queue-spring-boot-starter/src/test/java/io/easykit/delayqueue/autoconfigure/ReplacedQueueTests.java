package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.verify;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.actuate.DelayQueueEndpoint;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import java.time.Duration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

/** Tests of an application that replace parts of the queue. */
class ReplacedQueueTests {

    @Nested
    class TheTemplate extends Base {

        @MockitoBean
        DelayQueueTemplate template;

        @Test
        void startsAndSendsByTheMock(@Autowired Orders orders) {
            orders.close("1");

            verify(template).send("orders", "1", Duration.ZERO);
        }
    }

    @Nested
    class TheAdmins extends Base {

        @MockitoBean
        DelayQueueAdmin admin;

        @MockitoBean
        FleetAdmin fleet;

        @Test
        void starts(@Autowired ApplicationContext context) {
            assertThat(context.getBean(DelayQueueAdmin.class)).isSameAs(admin);
            assertThat(context.getBean(FleetAdmin.class)).isSameAs(fleet);
            assertThat(context.getBean(DelayQueueEndpoint.class)).isNotNull();
        }
    }

    @Nested
    @ExtendWith(OutputCaptureExtension.class)
    class TheEngine extends Base {

        @MockitoBean
        DelayQueueEngine engine;

        @Test
        void startsWithoutListenersTemplateAndAdmin(@Autowired ApplicationContext context, CapturedOutput output) {
            assertThat(output)
                    .contains("receives no messages")
                    .contains("Replace DelayQueueTemplate by a mock instead");
            assertThat(context.getBean(DelayListenerRegistry.class).containers())
                    .isEmpty();
            assertThat(context.getBeanProvider(DelayQueueTemplate.class).getIfAvailable())
                    .isNull();
            assertThat(context.getBeanProvider(DelayQueueAdmin.class).getIfAvailable())
                    .isNull();
            assertThat(context.getBean(DelayQueueEndpoint.class)).isNotNull();
        }
    }

    @SpringBootTest(classes = Application.class)
    @TestPropertySource(properties = {"spring.data.redis.port=1", "management.endpoints.web.exposure.include=*"})
    abstract static class Base {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Orders orders(ObjectProvider<DelayQueueTemplate> template) {
            return new Orders(template);
        }
    }

    static class Orders {

        private final ObjectProvider<DelayQueueTemplate> template;

        Orders(ObjectProvider<DelayQueueTemplate> template) {
            this.template = template;
        }

        void close(String order) {
            template.getObject().send("orders", order, Duration.ZERO);
        }

        @DelayListener(topic = "orders")
        void on(String order) {}
    }
}
