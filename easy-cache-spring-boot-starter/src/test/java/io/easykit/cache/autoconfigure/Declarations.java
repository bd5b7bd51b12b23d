package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.Consistency;
import io.easykit.cache.EasyCache;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.redis.RedisEntryStore;
import io.easykit.cache.store.EntryStore;
import io.easykit.test.StartFailure;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Starts applications with one declaration each. */
final class Declarations {

    private Declarations() {}

    record User(long id, String name) {}

    static class Valid {
        @Cacheable(prefix = "user", keys = "#id")
        public User find(long id) {
            return new User(id, "");
        }

        @Cacheable(
                prefix = "stock",
                keys = {"#shop", "#sku"},
                consistency = Consistency.CP,
                ttl = "${ttl:90s}")
        public Optional<List<User>> stock(String shop, String sku) {
            return Optional.empty();
        }

        @UpdateCache(prefix = "user", keys = "#result.id", condition = "#result != null")
        public Optional<User> update(String name) {
            return Optional.empty();
        }
    }

    /** An application without a Redis. */
    static ApplicationContextRunner application() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, EasyCacheAutoConfiguration.class))
                .withBean(EasyCache.class, () -> EasyCacheEngine.builder(new JacksonValueCodec())
                        .store("default", nowhere())
                        .store("other", nowhere())
                        .build());
    }

    private static EntryStore nowhere() {
        return new RedisEntryStore(new LettuceConnectionFactory(), Duration.ofSeconds(1));
    }

    static void refuses(Class<?> bean, String... parts) {
        refuses(application(), bean, parts);
    }

    /** The start fails, names the bean and all parts, and the last part is in the remedy. */
    static <T> void refuses(ApplicationContextRunner runner, Class<T> bean, String... parts) {
        runner.withBean(bean).run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = StartFailure.analysis(context.getStartupFailure());
            assertThat(analysis).isNotNull();
            String text = analysis.getDescription() + " | " + analysis.getAction();
            assertThat(text).contains(bean.getName()).contains(parts);
            assertThat(analysis.getAction()).contains(parts[parts.length - 1]);
        });
    }
}
