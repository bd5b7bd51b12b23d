package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.EasyCache;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class EasyCacheIntegrationTests {

    record User(long id, String name) {}

    private final LettuceConnectionFactory factory = new LettuceConnectionFactory(
            RedisServer.shared().host(), RedisServer.shared().port());
    private final CacheSpec<User> users = CacheSpec.of("user", User.class);
    private EasyCache cache;

    @BeforeEach
    void connect() {
        factory.afterPropertiesSet();
        factory.start();
        factory.getConnection().serverCommands().flushAll();
        cache = EasyCache.builder(new JacksonValueCodec())
                .store("default", new RedisEntryStore(factory, Duration.ofSeconds(2)))
                .build();
    }

    @AfterEach
    void disconnect() {
        factory.destroy();
    }

    @Test
    void loadsOnceThenHits() {
        AtomicInteger loads = new AtomicInteger();
        for (int i = 0; i < 3; i++) {
            assertThat(cache.fetch(users.key(1), () -> new User(loads.incrementAndGet(), "Ada")))
                    .isEqualTo(new User(1, "Ada"));
        }
        assertThat(loads).hasValue(1);
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void loadsOnceForAHundredConcurrentReaders(Consistency consistency) throws Exception {
        CacheSpec<User> spec = users.withOptions(CacheOptions.defaults().withConsistency(consistency));
        AtomicInteger loads = new AtomicInteger();
        CountDownLatch go = new CountDownLatch(1);
        ExecutorService pool = Executors.newFixedThreadPool(100);
        List<Future<User>> results = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            results.add(pool.submit(() -> {
                go.await();
                return cache.fetch(spec.key(7), () -> new User(loads.incrementAndGet(), "Ada"));
            }));
        }
        go.countDown();
        for (Future<User> result : results) {
            assertThat(result.get()).isEqualTo(new User(1, "Ada"));
        }
        pool.shutdown();
    }

    @Test
    void servesTheOldValueInsideTheWindowOnly() {
        cache.fetch(users.key(1), () -> new User(1, "old"));
        cache.update(List.of(users.key(1)), () -> null);
        assertThat(cache.fetch(users.key(1), () -> new User(1, "new")).name()).isIn("old", "new");
        CacheSpec<User> strong = users.withOptions(CacheOptions.defaults().withConsistency(Consistency.CP));
        assertThat(cache.fetch(strong.key(1), () -> new User(1, "new")).name()).isEqualTo("new");
    }
}
