package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.util.Objects;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class NamedClustersIntegrationTests {

    @AutoClose
    private final RedisServer trade = RedisServer.start("--requirepass", "secret");

    @AutoClose
    private final TcpProxy line = TcpProxy.to(RedisServer.shared());

    private final CacheKey<String> stock =
            CacheSpec.of("stock", String.class).withClusterId("trade").key(1);
    private final CacheKey<String> name = CacheSpec.of("name", String.class).key(1);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class, DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
            .withPropertyValues(
                    "spring.data.redis.port=" + line.port(),
                    "easy-cache.command-timeout=2s",
                    "easy-cache.circuit-breaker.probe-interval=50ms",
                    "easy-cache.clusters.trade.url=" + trade.uri());

    @Test
    void keepsEachEntryInTheRedisOfItsCluster() {
        runner.withPropertyValues("easy-cache.require-redis-at-start=true").run(context -> {
            RedisServer.shared().flush();
            EasyCache cache = context.getBean(EasyCache.class);
            cache.fetch(stock, () -> "7");
            cache.fetch(name, () -> "Ada");
            assertThat(cache.fetch(stock, () -> "never")).isEqualTo("7");
            assertThat(exists(trade, stock)).isTrue();
            assertThat(exists(trade, name)).isFalse();
            assertThat(exists(RedisServer.shared(), name)).isTrue();
        });
    }

    @Test
    void startsWithoutRedisAndRecoversByItself() {
        line.cut();
        runner.run(context -> {
            EasyCache cache = context.getBean(EasyCache.class);
            await().until(() -> {
                assertThat(cache.fetch(name, () -> "Ada")).isEqualTo("Ada");
                return stateOf(cache) == State.UNAVAILABLE;
            });
            cache.fetch(stock, () -> "7");
            assertThat(exists(trade, stock)).isTrue();
            line.heal();
            await().until(() -> stateOf(cache) == State.AVAILABLE);
        });
    }

    @Test
    void startsWithAWrongPasswordAndRecoversByItself() {
        String wrong = trade.uri().replace("secret", "wrong");
        runner.withPropertyValues("spring.data.redis.url=" + wrong).run(context -> {
            assertThat(context).hasNotFailed();
            EasyCache cache = context.getBean(EasyCache.class);
            await().until(() -> stateOf(cache) == State.UNAVAILABLE);
            assertThat(cache.fetch(name, () -> "Ada")).isEqualTo("Ada");
            try (RawRedis redis = trade.connect()) {
                redis.command("CONFIG", "SET", "requirepass", "wrong");
            }
            await().until(() -> stateOf(cache) == State.AVAILABLE);
        });
    }

    @Test
    void namesTheLoginThatARequiredRedisRefuses() {
        String wrong = trade.uri().replace("secret", "wrong");
        runner.withPropertyValues("spring.data.redis.url=" + wrong, "easy-cache.require-redis-at-start=true")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .message()
                        .contains("Redis 'default' refuses this application: Redis answered: WRONGPASS")
                        .contains("spring.data.redis.password). Correct what the reply names.")
                        .doesNotContain(".."));
    }

    private static State stateOf(EasyCache cache) {
        return Objects.requireNonNull(cache.availability(CacheSpec.DEFAULT_CLUSTER))
                .state();
    }

    private static boolean exists(RedisServer server, CacheKey<String> key) {
        try (RawRedis redis = server.connect()) {
            return Objects.equals(redis.command("EXISTS", "ec:" + key.name()), 1L);
        }
    }
}
