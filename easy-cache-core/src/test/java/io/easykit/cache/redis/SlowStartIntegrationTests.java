package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.redis.DedicatedConnections;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The first reply of a healthy Redis comes late, because the JVM is new and its processors are busy. */
@Timeout(20)
class SlowStartIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofMillis(30);

    @AutoClose
    private final TcpProxy line = TcpProxy.to(RedisServer.shared());

    private final LettuceConnectionFactory factory = factory();
    private final LettuceConnectionFactory others = factory();
    private final RedisEntryStore store = new RedisEntryStore(factory, TIMEOUT);
    private final RedisEntryStore impatient = new RedisEntryStore(others, TIMEOUT);
    private final CacheKey<String> key =
            CacheSpec.of("slow-start", String.class).key(System.nanoTime());

    @AfterEach
    void closeConnections() {
        factory.destroy();
        others.destroy();
    }

    @Test
    void marksNoRedisUnavailableWhoseFirstReplyIsLate() {
        line.holdReplies(true);
        store.allowSlowStart(Duration.ofMinutes(1));
        EasyCacheEngine cache = cache();
        try {
            CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> cache.fetch(key, () -> "loaded"));
            for (int i = 0; i < 10; i++) {
                assertThatThrownBy(impatient::ping).isInstanceOf(StoreUnavailableException.class);
            }
            assertThat(state(cache)).isEqualTo(State.AVAILABLE);
            line.heal();
            assertThat(first.orTimeout(10, TimeUnit.SECONDS).join()).isEqualTo("loaded");

            line.holdReplies(true);
            await("the longer wait ends with the first reply").until(() -> state(cache) == State.UNAVAILABLE);
        } finally {
            cache.stop();
        }
    }

    @Test
    void reportsARedisThatHangsFromTheStart() {
        line.holdReplies(true);
        store.allowSlowStart(Duration.ofMillis(200));
        EasyCacheEngine cache = cache();
        try {
            await().until(() -> state(cache) == State.UNAVAILABLE);
            line.heal();
            await().until(() -> state(cache) == State.AVAILABLE);
        } finally {
            cache.stop();
        }
    }

    @Test
    void waitsForNoRedisThatRefusesConnections() {
        line.cut();
        store.allowSlowStart(Duration.ofMinutes(1));
        assertThatThrownBy(store::ping).isInstanceOf(StoreUnavailableException.class);
    }

    private EasyCacheEngine cache() {
        return EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .circuitBreaker(new CircuitBreakerOptions(Duration.ofSeconds(10), 0.5, 3, TIMEOUT, 3))
                .build();
    }

    private static State state(EasyCacheEngine cache) {
        return Objects.requireNonNull(cache.availability(CacheSpec.DEFAULT_CLUSTER))
                .state();
    }

    private LettuceConnectionFactory factory() {
        LettuceConnectionFactory copy =
                DedicatedConnections.copyOf(new LettuceConnectionFactory(line.host(), line.port()), TIMEOUT);
        copy.afterPropertiesSet();
        copy.start();
        return copy;
    }
}
