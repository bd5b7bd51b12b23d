package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.redis.DedicatedConnections;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class ScriptLoaderIntegrationTests {

    private final RedisServer redis = RedisServer.start();
    private final LettuceConnectionFactory factory = DedicatedConnections.copyOf(
            new LettuceConnectionFactory(redis.host(), redis.port()), Duration.ofSeconds(5));
    private final ScriptLoader loader = new ScriptLoader(new RedisEntryStore(factory, Duration.ofSeconds(5)));

    @BeforeEach
    void connect() {
        factory.afterPropertiesSet();
    }

    @AfterEach
    void stop() {
        loader.stop();
        factory.destroy();
        redis.close();
    }

    @Test
    void makesAllScriptsKnownAndEnds() {
        assertThat(known()).doesNotContain(1L);
        loader.start();
        await().until(() -> !loader.isLoading());
        assertThat(known()).containsOnly(1L);
    }

    @Test
    void triesAgainUntilRedisIsThere() {
        redis.kill();
        loader.start();
        await().during(Duration.ofMillis(300)).until(loader::isLoading);
        redis.restart();
        await().atMost(Duration.ofSeconds(30)).until(() -> !loader.isLoading());
        assertThat(known()).containsOnly(1L);
    }

    @Test
    void givesUpWhenStopped() {
        redis.kill();
        loader.start();
        loader.stop();
        assertThat(loader.isLoading()).isFalse();
        redis.restart();
        loader.start();
        await().atMost(Duration.ofSeconds(30)).until(() -> !loader.isLoading());
        assertThat(known()).containsOnly(1L);
    }

    /** For each script 1 if the server has it in its cache, else 0. */
    private List<Long> known() {
        String[] command = Stream.concat(
                        Stream.of("SCRIPT", "EXISTS"),
                        Stream.of(CacheScript.values())
                                .map(script -> script.lua().sha()))
                .toArray(String[]::new);
        try (RawRedis raw = redis.connect()) {
            return ((List<?>) raw.command(command))
                    .stream().map(Long.class::cast).toList();
        }
    }
}
