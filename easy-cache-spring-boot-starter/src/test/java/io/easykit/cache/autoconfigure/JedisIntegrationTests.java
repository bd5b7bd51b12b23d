package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** An application that uses Redis through Jedis. */
class JedisIntegrationTests {

    /** The command timeout, with allowance for a busy machine. The default timeout of Jedis is two seconds and more. */
    private static final Duration SOON = Duration.ofMillis(1_500);

    private final CacheSpec<String> users = CacheSpec.of("user", String.class);

    @Test
    void goesWithoutARedisThatHangsAndComesBack() {
        try (RedisServer server = RedisServer.start()) {
            application(server).run(context -> {
                assertThat(context).hasSingleBean(JedisConnectionFactory.class);
                EasyCache cache = context.getBean(EasyCache.class);
                AtomicInteger loads = new AtomicInteger();
                // The first connection may take longer than the timeout.
                await().until(() -> {
                    int before = loads.get();
                    cache.fetch(users.key(1), () -> {
                        loads.incrementAndGet();
                        return "Ada";
                    });
                    return loads.get() == before;
                });

                server.pause();
                Duration shortest = Duration.ofDays(1);
                for (int i = 2; i < 8; i++) {
                    int id = i;
                    long began = System.nanoTime();
                    assertThat(cache.fetch(users.key(id), () -> "Bob")).isEqualTo("Bob");
                    shortest = Collections.min(List.of(shortest, Duration.ofNanos(System.nanoTime() - began)));
                }
                assertThat(shortest).isLessThan(SOON);
                await().until(() -> state(cache) == Availability.State.UNAVAILABLE);

                server.resume();
                await().until(() -> state(cache) == Availability.State.AVAILABLE);
                await().until(() -> cache.fetch(users.key(1), () -> "not stored", any -> false), "Ada"::equals);
            });
        }
    }

    @Test
    void worksAgainAfterARestart() {
        try (RedisServer server = RedisServer.start()) {
            application(server).run(context -> {
                EasyCache cache = context.getBean(EasyCache.class);
                cache.fetch(users.key(1), () -> "Ada");

                server.kill();
                await().until(() -> {
                    assertThat(cache.fetch(users.key(2), () -> "Bob")).isEqualTo("Bob");
                    return state(cache) == Availability.State.UNAVAILABLE;
                });
                server.restart();

                await().until(() -> state(cache) == Availability.State.AVAILABLE);
                cache.fetch(users.key(3), () -> "Eve");
                assertThat(cache.fetch(users.key(3), () -> "never")).isEqualTo("Eve");
            });
        }
    }

    private static Availability.State state(EasyCache cache) {
        return Objects.requireNonNull(cache.availability(CacheSpec.DEFAULT_CLUSTER))
                .state();
    }

    private static ApplicationContextRunner application(RedisServer server) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class, DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
                .withPropertyValues(
                        "spring.data.redis.url=" + server.uri(),
                        "spring.data.redis.client-type=jedis",
                        "easy-cache.circuit-breaker.minimum-calls=3");
    }
}
