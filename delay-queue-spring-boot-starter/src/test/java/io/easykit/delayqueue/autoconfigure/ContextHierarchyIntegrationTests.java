package io.easykit.delayqueue.autoconfigure;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.engine.ListenerContainer;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.test.RedisServer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Listeners in a child context use the engine of the parent, and live as long as the beans of the child. */
class ContextHierarchyIntegrationTests {

    private final BlockingQueue<String> got = new LinkedBlockingQueue<>();

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    @Test
    void theListenersOfAChildStopWithIt() {
        withParent(parent -> {
            DelayQueueTemplate template = parent.getBean(DelayQueueTemplate.class);
            DelayQueueEngine engine = parent.getBean(DelayQueueEngine.class);
            withChild(parent, child -> {
                template.send("orders", "first", Duration.ZERO);
                await().until(() -> got.contains("first"));
                await().until(() -> engine.stats("orders").counters().acknowledged() == 1);
            });

            template.send("orders", "second", Duration.ZERO);
            // Both go through the same loops, so the message of a listener that still ran would have been taken first.
            template.send("parents", "third", Duration.ZERO);
            await().until(() -> got.contains("third"));
            TopicStats orders = engine.stats("orders");
            assertThat(orders.waiting()).isEqualTo(1);
            assertThat(got).doesNotContain("second");
        });
    }

    @Test
    void theNodeStaysInTheFleetWhenAChildCloses() {
        withParent(parent -> {
            DelayQueueEngine engine = parent.getBean(DelayQueueEngine.class);
            await().until(() -> engine.fleet().nodes().size() == 1);
            withChild(parent, child -> {});

            assertThat(engine.fleet().nodes()).hasSize(1);
        });
    }

    @Test
    void theOutboxOfTheParentIsStillDeliveredWhenAChildHasClosed() {
        withParent(
                parent -> {
                    withChild(parent, child -> assertThat(child).hasNotFailed());

                    new TransactionTemplate(parent.getBean(PlatformTransactionManager.class))
                            .executeWithoutResult(status -> parent.getBean(DelayQueueTemplate.class)
                                    .send("parents", "from the outbox", Duration.ZERO));

                    await().until(() -> got.contains("from the outbox"));
                },
                "delay-queue.send-phase=outbox",
                "spring.datasource.generate-unique-name=true");
    }

    @Test
    void aRunningCallOfAChildUsesItsBeansUntilItsEnd() {
        CountDownLatch mayEnd = new CountDownLatch(1);
        withParent(parent -> {
            withChild(parent, child -> {
                ChildListener listener = child.getBean(ChildListener.class);
                listener.mayEnd = mayEnd;
                listener.mayEndLate = true;
                parent.getBean(DelayQueueTemplate.class).send("orders", "long", Duration.ZERO);
                await().until(() -> got.contains("long"));
                var unused = CompletableFuture.runAsync(
                        mayEnd::countDown, CompletableFuture.delayedExecutor(200, MILLISECONDS));
            });
            await().until(() -> got.size() == 2);
            assertThat(got).contains("ended");
        });
    }

    @Test
    void theParentShowsTheListenersOfItsChildren() {
        withParent(parent -> {
            DelayListenerRegistry registry = parent.getBean(DelayListenerRegistry.class);
            for (int opened = 0; opened < 2; opened++) {
                withChild(parent, child -> {
                    assertThat(registry.topics()).containsExactlyInAnyOrder("parents", "orders");
                    assertThat(registry.container("orders")).isPresent();
                    assertThat(registry.isAnnotated("orders")).isTrue();
                    assertThat(placesOf("orders", parent)).isEqualTo(1);
                });
                assertThat(registry.topics()).containsExactly("parents");
                assertThat(registry.isAnnotated("orders")).isFalse();
                assertThat(placesOf("orders", parent)).isZero();
            }
            assertThat(placesOf("parents", parent)).isEqualTo(1);
        });
    }

    private static double placesOf(String listener, AssertableApplicationContext context) {
        return context.getBean(MeterRegistry.class)
                .get("delayqueue.handlers.places")
                .tags("listener", listener)
                .gauge()
                .value();
    }

    @Test
    void theGaugesOfAChildAreThoseOfTheOneThatIsOpen() {
        new ApplicationContextRunner()
                .withUserConfiguration(Registry.class)
                .withPropertyValues(
                        "spring.data.redis.url=" + RedisServer.shared().uri(), "delay-queue.command-timeout=2s")
                .run(parent -> {
                    MeterRegistry registry = parent.getBean(MeterRegistry.class);
                    for (int opened = 0; opened < 2; opened++) {
                        withChild(parent, child -> {
                            assertThat(registry.get("delayqueue.available")
                                            .gauge()
                                            .value())
                                    .isEqualTo(1);
                            assertThat(registry.get("delayqueue.messages")
                                            .tags("topic", "orders", "state", "scheduled")
                                            .gauge()
                                            .value())
                                    .isZero();
                            assertThat(placesOf("orders", parent)).isEqualTo(1);
                        });
                        assertThat(registry.getMeters())
                                .filteredOn(Gauge.class::isInstance)
                                .extracting(gauge -> gauge.getId().getName())
                                .noneMatch(name -> name.startsWith("delayqueue") && !name.endsWith(".histogram"));
                    }
                });
    }

    @Test
    void anIdIsRefusedIfAnotherContextOfTheHierarchyHasIt() {
        withParent(parent -> {
            runner(parent)
                    .withBean(ParentListener.class, () -> new ParentListener(got))
                    .run(child -> refused(child, "parents"));
            withChild(parent, child -> withChild(parent, sibling -> refused(sibling, "orders")));
            withChild(parent, child -> withChild(child, grandchild -> refused(grandchild, "orders")));

            withChild(parent, child -> assertThat(child).hasNotFailed());
        });
    }

    private static void refused(AssertableApplicationContext context, String id) {
        assertThat(context)
                .getFailure()
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("There is already a listener '" + id
                        + "', in this application context, in a parent of it, or in another child of its parents."
                        + " Use a different id for each listener.");
    }

    @Test
    void theCallsOfAChildEndBeforeTheConnectionsOfAParentThatClosesFirst() {
        withParent(parent -> withChild(parent, child -> {
            CountDownLatch mayEnd = new CountDownLatch(1);
            ChildListener listener = child.getBean(ChildListener.class);
            listener.mayEnd = mayEnd;
            listener.mayEndLate = true;
            parent.getBean(DelayQueueTemplate.class).send("orders", "long", Duration.ZERO);
            await().until(() -> got.contains("long"));
            var unused =
                    CompletableFuture.runAsync(mayEnd::countDown, CompletableFuture.delayedExecutor(200, MILLISECONDS));

            parent.getSourceApplicationContext().close();

            assertThat(got).containsExactly("long", "ended");
        }));
        withParent(parent -> {
            TopicStats orders = parent.getBean(DelayQueueEngine.class).stats("orders");
            assertThat(orders.counters().acknowledged()).isEqualTo(1);
        });
    }

    @Test
    void theListenersOfAChildStopAndStartWithItsParent() {
        withParent(parent -> withChild(parent, child -> {
            DelayListenerRegistry registry = parent.getBean(DelayListenerRegistry.class);
            registry.stop();
            assertThat(registry.containers()).noneMatch(ListenerContainer::isRunning);

            registry.start();
            assertThat(registry.containers()).hasSize(2).allMatch(ListenerContainer::isRunning);

            child.getBean(DelayListenerRegistry.class).stop();
            registry.stop();
            registry.start();
            assertThat(registry.container("orders").orElseThrow().isRunning()).isFalse();
        }));
    }

    /** Spring does not start a bean whose isRunning() is true. */
    @Test
    void contextsThatAreStoppedStartTheirListenersAgain() {
        withParent(parent -> withChild(parent, child -> {
            DelayListenerRegistry ofParent = parent.getBean(DelayListenerRegistry.class);
            DelayListenerRegistry ofChild = child.getBean(DelayListenerRegistry.class);
            ConfigurableApplicationContext parentContext = parent.getSourceApplicationContext();
            ConfigurableApplicationContext childContext = child.getSourceApplicationContext();

            parentContext.stop();
            assertThat(ofChild.isRunning()).isFalse();
            childContext.start();
            assertThat(ofChild.isRunning()).isTrue();

            parentContext.start();
            assertThat(ofParent.containers()).hasSize(2).allMatch(ListenerContainer::isRunning);
        }));
    }

    private void withParent(Consumer<AssertableApplicationContext> work, String... properties) {
        new ApplicationContextRunner()
                .withUserConfiguration(Parent.class)
                .withBean(ParentListener.class, () -> new ParentListener(got))
                .withPropertyValues(
                        "spring.data.redis.url=" + RedisServer.shared().uri(), "delay-queue.command-timeout=2s")
                .withPropertyValues(properties)
                .run(work::accept);
    }

    private void withChild(AssertableApplicationContext parent, Consumer<AssertableApplicationContext> work) {
        runner(parent)
                .withBean(ChildListener.class, () -> new ChildListener(got))
                .run(work::accept);
    }

    private static ApplicationContextRunner runner(AssertableApplicationContext parent) {
        return new ApplicationContextRunner().withParent(parent).withUserConfiguration(Child.class);
    }

    @Configuration(proxyBeanMethods = false)
    static class Registry {

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableQueueAndDatabase
    static class Parent {

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableQueueAndDatabase
    static class Child {}

    static class ParentListener {

        private final BlockingQueue<String> got;

        ParentListener(BlockingQueue<String> got) {
            this.got = got;
        }

        @DelayListener(topic = "parents")
        void take(String payload) {
            got.add(payload);
        }
    }

    static class ChildListener implements DisposableBean {

        private final BlockingQueue<String> got;
        private volatile CountDownLatch mayEnd = new CountDownLatch(0);
        private volatile boolean mayEndLate;
        private volatile boolean destroyed;

        ChildListener(BlockingQueue<String> got) {
            this.got = got;
        }

        @DelayListener(topic = "orders")
        void take(String payload) throws InterruptedException {
            got.add(payload);
            mayEnd.await();
            if (mayEndLate) {
                got.add(destroyed ? "ended after its beans" : "ended");
            }
        }

        @Override
        public void destroy() {
            destroyed = true;
        }
    }
}
