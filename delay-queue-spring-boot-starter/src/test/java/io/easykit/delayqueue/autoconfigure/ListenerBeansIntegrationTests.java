package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.test.RedisServer;
import io.easykit.test.StartFailure;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.CustomScopeConfigurer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.context.support.SimpleThreadScope;

/** Beans that Spring creates in another way than a plain singleton get their messages, or fail the start. */
@ExtendWith(OutputCaptureExtension.class)
class ListenerBeansIntegrationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withUserConfiguration(Application.class)
            .withBean(Seen.class)
            .withPropertyValues(
                    "spring.data.redis.url=" + RedisServer.shared().uri(), "delay-queue.command-timeout=2s");

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    @ParameterizedTest
    @ValueSource(classes = {ProxyOfAScope.class, InterfaceProxyOfAScope.class, ProxyOfAPrototype.class})
    void refusesAScopedProxyWhoseTargetIsCreatedOnDemand(Class<?> configuration) {
        refuses(configuration);
    }

    @ParameterizedTest
    @ValueSource(classes = {ProductForEachCaller.class, LazyProduct.class})
    void refusesAProductThatIsMadeOnDemand(Class<?> configuration) {
        refuses(configuration);
    }

    @ParameterizedTest
    @ValueSource(classes = {ProxyOfASingleton.class, Product.class, ProductOfAnEarlyFactory.class})
    void deliversToABeanThatNothingElseNeeds(Class<?> configuration, CapturedOutput output) {
        runner.withUserConfiguration(configuration).run(context -> {
            context.getBean(DelayQueueTemplate.class).send("orders", "1", Duration.ZERO);

            assertThat(context.getBean(Seen.class).orders.poll(20, TimeUnit.SECONDS))
                    .isEqualTo("1");
        });
        assertThat(output).doesNotContain("receive no messages");
    }

    @Test
    void warnsOfAProductThatWasMadeTooEarly(CapturedOutput output) {
        runner.withUserConfiguration(EarlyProduct.class)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce("Listeners of bean 'orders' (" + Orders.class.getName() + ") receive no messages");
    }

    /** Also if one of its listeners was accepted before. */
    @Test
    void aLateBeanWithAListenerThatIsRefusedIsCreatedWhenTheReasonIsGone() {
        runner.withUserConfiguration(Product.class).run(context -> {
            GenericApplicationContext beans = (GenericApplicationContext) context.getSourceApplicationContext();
            DelayListenerRegistry registry = context.getBean(DelayListenerRegistry.class);
            beans.registerBean("late", Late.class);
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> beans.getBean("late"))
                        .hasRootCauseInstanceOf(TopicConflictException.class)
                        .hasStackTraceContaining("maxLeaseExpirations");
                assertThat(registry.topics()).containsExactly("orders");
            }

            registry.container("orders").orElseThrow().stop();
            beans.getBean("late");

            assertThat(registry.containers())
                    .extracting(container -> container.endpoint().id())
                    .containsExactly("orders", "accepted", "refused");
            context.getBean(DelayQueueTemplate.class).send("accepted", "1", Duration.ZERO);
            assertThat(context.getBean(Seen.class).orders.poll(20, TimeUnit.SECONDS))
                    .isEqualTo("1");
        });
    }

    @Test
    void aLateBeanWithAnInvalidListenerStartsNone() {
        runner.withUserConfiguration(Product.class).run(context -> {
            GenericApplicationContext beans = (GenericApplicationContext) context.getSourceApplicationContext();
            DelayQueueTemplate queue = context.getBean(DelayQueueTemplate.class);
            queue.send(OutgoingMessage.of("accepted", "1").id("due"));
            beans.registerBean("late", LateWithAnIdTwice.class);

            assertThatThrownBy(() -> beans.getBean("late")).hasStackTraceContaining("its id 'orders' is also that of");

            assertThat(context.getBean(DelayListenerRegistry.class).topics()).containsExactly("orders");
            MessageInfo due = queue.find("accepted", "due").orElseThrow();
            assertThat(due.state()).isEqualTo(MessageInfo.State.WAITING);
            assertThat(due.failures() + due.leaseExpirations() + due.releases()).isZero();
            assertThat(LateWithAnIdTwice.STARTED).isEmpty();
        });
    }

    @Test
    void makesNoProductInAStartThatFails() {
        runner.withUserConfiguration(EarlyFactory.class)
                .withPropertyValues("delay-queue.command-timeout=soon")
                .run(context -> {
                    assertThat(StartFailure.analysis(context.getStartupFailure())
                                    .getDescription())
                            .contains("delay-queue.command-timeout")
                            .doesNotContain("on demand");
                    assertThat(EarlyFactory.made).hasValue(0);
                });
    }

    private void refuses(Class<?> configuration) {
        runner.withUserConfiguration(configuration).run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = StartFailure.analysis(context.getStartupFailure());
            assertThat(analysis.getDescription().lines())
                    .singleElement()
                    .asString()
                    .contains(".on(String)", "bean 'orders'", "created on demand only");
            assertThat(analysis.getAction()).contains("a bean that is a singleton");
        });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableQueueAndDatabase
    static class Application {}

    static class Seen {
        final BlockingQueue<String> orders = new LinkedBlockingQueue<>();
    }

    interface Listens {
        @DelayListener(topic = "orders")
        void on(String order);
    }

    static class Orders implements Listens {

        private final Seen seen;

        Orders(Seen seen) {
            this.seen = seen;
        }

        @Override
        public void on(String order) {
            seen.orders.add(order);
        }
    }

    static class RefusedBesideOrders {
        @DelayListener(topic = "orders", id = "refused", maxLeaseExpirations = "77")
        public void onOrder(String order) {}
    }

    /** The methods of the class itself are registered before those of its superclass. */
    static class Late extends RefusedBesideOrders {

        private final Seen seen;

        Late(Seen seen) {
            this.seen = seen;
        }

        @DelayListener(topic = "accepted")
        public void on(String text) {
            seen.orders.add(text);
        }
    }

    static class RefusedForItsId {

        @DelayListener(topic = "orders")
        public void again(String text) {}
    }

    static class LateWithAnIdTwice extends RefusedForItsId {

        static final BlockingQueue<String> STARTED = new LinkedBlockingQueue<>();

        @DelayListener(topic = "accepted")
        public void on(String text) {
            STARTED.add(text);
        }
    }

    static class OrdersFactory implements FactoryBean<Orders> {

        private final Seen seen;

        OrdersFactory(Seen seen) {
            this.seen = seen;
        }

        @Override
        public Orders getObject() {
            return new Orders(seen);
        }

        @Override
        public Class<?> getObjectType() {
            return Orders.class;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ThreadScope {

        @Bean
        static CustomScopeConfigurer scopes() {
            CustomScopeConfigurer scopes = new CustomScopeConfigurer();
            scopes.setScopes(Map.of("refresh", new SimpleThreadScope()));
            return scopes;
        }
    }

    static class ProxyOfAScope extends ThreadScope {
        @Bean
        @Scope(scopeName = "refresh", proxyMode = ScopedProxyMode.TARGET_CLASS)
        OpenOrders orders() {
            return new OpenOrders();
        }
    }

    static class OpenOrders {
        @DelayListener(topic = "orders")
        public void on(String order) {}
    }

    static class InterfaceProxyOfAScope extends ThreadScope {
        @Bean
        @Scope(scopeName = "refresh", proxyMode = ScopedProxyMode.INTERFACES)
        Listens orders(Seen seen) {
            return new Orders(seen);
        }
    }

    static class ProxyOfAPrototype {
        @Bean
        @Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
        OpenOrders orders() {
            return new OpenOrders();
        }
    }

    static class ProxyOfASingleton {
        @Bean
        @Scope(proxyMode = ScopedProxyMode.INTERFACES)
        Listens orders(Seen seen) {
            return new Orders(seen);
        }
    }

    static class Product {
        @Bean
        OrdersFactory orders(Seen seen) {
            return new OrdersFactory(seen);
        }
    }

    static class LazyProduct {
        @Bean
        @Lazy
        OrdersFactory orders(Seen seen) {
            return new OrdersFactory(seen);
        }
    }

    static class ProductForEachCaller {
        @Bean
        OrdersFactory orders(Seen seen) {
            return new OrdersFactory(seen) {
                @Override
                public boolean isSingleton() {
                    return false;
                }
            };
        }
    }

    static class ProductOfAnEarlyFactory {

        @Bean
        static OrdersFactory orders(Seen seen) {
            return new OrdersFactory(seen);
        }

        @Bean
        static BeanFactoryPostProcessor needsTheFactory() {
            return beans -> assertThat(beans.getBean("&orders")).isNotNull();
        }
    }

    static class EarlyProduct {

        @Bean
        static OrdersFactory orders(Seen seen) {
            return new OrdersFactory(seen);
        }

        @Bean
        static BeanFactoryPostProcessor needsTheProduct() {
            return beans -> assertThat(beans.getBean("orders")).isNotNull();
        }
    }

    static class EarlyFactory {

        static final AtomicInteger made = new AtomicInteger();

        @Bean
        static OrdersFactory orders(Seen seen) {
            return new OrdersFactory(seen) {
                @Override
                public Orders getObject() {
                    made.incrementAndGet();
                    return super.getObject();
                }
            };
        }
    }
}
