package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.EventListener;

class AvailabilityEventsTests {

    @Test
    void keepsTheEventsOfTheStartUntilTheApplicationHasStarted() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class, DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
                .withBean(Journal.class)
                .withBean(SlowStart.class)
                .withPropertyValues("spring.data.redis.port=1", "easy-cache.availability.probe-interval=10ms")
                .run(context -> {
                    Journal journal = context.getBean(Journal.class);
                    assertThat(journal.seen).containsExactly("waited for it", State.UNAVAILABLE);
                    assertThat(journal.threads).as("not that of the keeper").containsExactly(Thread.currentThread());
                });
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

    /** Starts after the cache, and waits until the cache has detected that Redis is unavailable. */
    static final class SlowStart implements SmartLifecycle {

        private final EasyCache cache;
        private final Journal journal;

        SlowStart(EasyCache cache, Journal journal) {
            this.cache = cache;
            this.journal = journal;
        }

        @Override
        public void start() {
            await().until(() -> Objects.requireNonNull(cache.availability(CacheSpec.DEFAULT_CLUSTER))
                            .state()
                    == State.UNAVAILABLE);
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
