package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;

/** One thread keeps the process running while listeners run, also while Redis is away. */
class KeepAliveTests {

    private static final String THREAD = "delay-queue-keep-alive";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class))
            .withPropertyValues("spring.data.redis.port=1");

    private final Set<Thread> others = new HashSet<>();

    @BeforeEach
    void noteThoseOfOtherTests() {
        others.addAll(all());
    }

    @Test
    void followsTheStartsAndStopsOfTheContext() {
        runner.withBean(Orders.class).run(context -> {
            assertThat(own()).singleElement().satisfies(thread -> assertThat(thread.isDaemon())
                    .isFalse());

            ConfigurableApplicationContext lifecycle = context.getSourceApplicationContext();
            for (int i = 0; i < 2; i++) {
                lifecycle.stop();
                await().until(() -> own().isEmpty());
                lifecycle.start();
                assertThat(own()).hasSize(1);
            }
        });
        await().until(() -> own().isEmpty());
    }

    @Test
    void isNotNeededWithoutListenersThatRun() {
        runner.run(context -> {
            assertThat(context.getBean(DelayListenerRegistry.class).isRunning()).isTrue();
            assertThat(own()).isEmpty();
        });
        runner.withBean(Orders.class)
                .withPropertyValues("delay-queue.auto-startup=false")
                .run(context -> {
                    assertThat(own()).isEmpty();
                    context.getBean(DelayListenerRegistry.class).start();
                    assertThat(own()).hasSize(1);
                });
        await().until(() -> own().isEmpty());
    }

    @Test
    void endsAfterAStartThatFailsHalfWay() {
        runner.withBean(Orders.class).withBean(Fragile.class).run(context -> assertThat(context)
                .hasFailed());

        await().until(() -> own().isEmpty());
    }

    @Test
    void isThereOnceForEachContextOfAHierarchy() {
        runner.withBean(Orders.class).run(parent -> {
            ConfigurableApplicationContext lifecycle = parent.getSourceApplicationContext();
            runner.withParent(parent).withBean(Parcels.class).run(child -> {
                assertThat(own()).hasSize(2);
                lifecycle.stop();
                await().until(() -> own().isEmpty());
                lifecycle.start();
                assertThat(own()).hasSize(2);
            });
            await().until(() -> own().size() == 1);
        });
        await().until(() -> own().isEmpty());
    }

    @Test
    void survivesAnInterruptByOtherCode() {
        runner.withBean(Orders.class).run(context -> {
            Thread thread = own().iterator().next();
            thread.interrupt();

            await().until(() -> !thread.isInterrupted() && thread.getState() == Thread.State.TIMED_WAITING);
            assertThat(own()).containsExactly(thread);
        });
    }

    private Set<Thread> own() {
        Set<Thread> threads = all();
        threads.removeAll(others);
        return threads;
    }

    private static Set<Thread> all() {
        Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
        threads.removeIf(thread -> !thread.getName().equals(THREAD));
        return threads;
    }

    static class Orders {

        @DelayListener(topic = "orders")
        void on(String order) {}
    }

    static class Fragile {

        @DelayListener(topic = "orders", id = "fragile", maxLeaseExpirations = "1")
        void on(String order) {}
    }

    static class Parcels {

        @DelayListener(topic = "parcels")
        void on(String parcel) {}
    }
}
