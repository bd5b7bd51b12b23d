package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheListener;
import io.easykit.cache.EasyCache;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.EventListener;
import org.springframework.context.support.GenericApplicationContext;

class AvailabilityEventsTests {

    @Test
    void keepsTheEventsOfTheStartUntilTheApplicationHasStarted() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class, DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
                .withBean(Journal.class)
                .withBean(Signal.class)
                .withBean(SlowStart.class)
                .withPropertyValues("spring.data.redis.port=1", "easy-cache.circuit-breaker.probe-interval=10ms")
                .run(context -> {
                    Journal journal = context.getBean(Journal.class);
                    assertThat(journal.seen).containsExactly("waited for it", State.UNAVAILABLE);
                    assertThat(journal.threads).as("not that of the keeper").containsExactly(Thread.currentThread());
                });
    }

    @Test
    void publishesTheEventsOfTheStartBeforeLaterOnes() {
        List<State> published = new ArrayList<>();
        GenericApplicationContext context = new GenericApplicationContext();
        AvailabilityEvents events = new AvailabilityEvents(context);
        context.addApplicationListener(events);
        Consumer<RedisAvailabilityEvent> recorder = event -> {
            if (published.isEmpty()) {
                runInAnotherThread(() -> events.listener().onAvailability("default", State.AVAILABLE));
            }
            published.add(event.state());
        };
        context.addApplicationListener(ApplicationListener.forPayload(recorder));
        events.listener().onAvailability("default", State.UNAVAILABLE);
        assertThat(published).isEmpty();

        context.refresh();

        assertThat(published).containsExactly(State.UNAVAILABLE, State.AVAILABLE);
        events.listener().onAvailability("default", State.UNAVAILABLE);
        assertThat(published).hasSize(3);
        context.close();
    }

    private static void runInAnotherThread(Runnable action) {
        CompletableFuture.runAsync(action).join();
    }

    static class Journal {

        private final List<Object> seen = new CopyOnWriteArrayList<>();
        private final List<Thread> threads = new CopyOnWriteArrayList<>();

        @EventListener
        void on(RedisAvailabilityEvent event) {
            threads.add(Thread.currentThread());
            seen.add(event.state());
        }
    }

    /** Called after the listener that keeps the events of the start. */
    static final class Signal implements CacheListener {

        private final CountDownLatch unavailable = new CountDownLatch(1);

        @Override
        public void onAvailability(String clusterId, State state) {
            unavailable.countDown();
        }
    }

    /** Starts after the cache, and waits until the cache has reported to its listeners that Redis is unavailable. */
    static final class SlowStart implements SmartLifecycle {

        private final Signal signal;
        private final Journal journal;

        /** @param cache started before this bean */
        SlowStart(EasyCache cache, Signal signal, Journal journal) {
            this.signal = signal;
            this.journal = journal;
        }

        @Override
        public void start() {
            try {
                assertThat(signal.unavailable.await(30, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            journal.seen.add("waited for it");
        }

        @Override
        public void stop() {}

        @Override
        public boolean isRunning() {
            return false;
        }
    }
}
