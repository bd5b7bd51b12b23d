package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.store.EntryStore;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** Two applications with the same cache on one Redis, and on one further Redis. */
class KeyPrefixIntegrationTests {

    private final RedisServer server = RedisServer.shared();
    private final CacheKey<String> user = CacheSpec.of("user", String.class).key(1);
    private final CacheKey<String> stock =
            CacheSpec.of("stock", String.class).withClusterId("trade").key(1);

    @Test
    void applicationsWithDifferentPrefixesDoNotSeeEachOthersEntries() {
        server.flush();
        application("shop").run(shop -> application("bank").run(bank -> {
            for (CacheKey<String> key : List.of(user, stock)) {
                assertThat(cache(shop).fetch(key, () -> "of the shop")).isEqualTo("of the shop");
                assertThat(cache(bank).fetch(key, () -> "of the bank")).isEqualTo("of the bank");
                assertThat(cache(shop).fetch(key, () -> "never")).isEqualTo("of the shop");
            }
        }));
    }

    @Test
    void neitherInvalidatesTheOthersEntriesNorRaisesItsEpochs() {
        server.flush();
        application("shop").run(shop -> application("bank").run(bank -> {
            cache(shop).fetch(user, () -> "of the shop");
            cache(bank).fetch(user, () -> "of the bank");

            cache(bank).invalidate(user);
            store(bank).raiseEpochs(0, Map.of("user", 0L), "");
            store(bank).probe();

            assertThat(store(shop).epochs(0).raised()).isEqualTo(Map.of());
            assertThat(store(bank).epochs(0).raised()).containsKey("user");
            assertThat(cache(shop).fetch(user, () -> "never")).isEqualTo("of the shop");
            try (RawRedis redis = server.connect()) {
                assertThat(redis.snapshot().keySet())
                        .contains("shop:ec:user::1", "bank:ec:epochs")
                        .allMatch(key -> key.matches("(shop|bank):ec:.*"));
            }
        }));
    }

    private ApplicationContextRunner application(String name) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class, DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
                .withPropertyValues(
                        "spring.data.redis.url=" + server.uri(),
                        "easy-cache.clusters.trade.url=" + server.uri(),
                        "spring.application.name=" + name,
                        "easy-cache.command-timeout=5s",
                        "easy-cache.key-prefix=${spring.application.name}:ec:");
    }

    private static EasyCache cache(ApplicationContext application) {
        return application.getBean(EasyCache.class);
    }

    private static EntryStore store(ApplicationContext application) {
        return application.getBean(RedisConnections.class).store();
    }
}
