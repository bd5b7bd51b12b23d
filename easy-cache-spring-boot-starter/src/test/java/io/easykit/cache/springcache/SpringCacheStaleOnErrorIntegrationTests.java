package io.easykit.cache.springcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.autoconfigure.EasyCacheAutoConfiguration;
import io.easykit.cache.autoconfigure.EasyCacheSpringCacheAutoConfiguration;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.util.AopTestUtils;

/** Methods with Spring's annotations return expired values while they fail. */
class SpringCacheStaleOnErrorIntegrationTests {

    private final RedisServer server = RedisServer.shared();
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    DataRedisAutoConfiguration.class,
                    EasyCacheAutoConfiguration.class,
                    EasyCacheSpringCacheAutoConfiguration.class))
            .withUserConfiguration(Caching.class)
            .withBean(Products.class)
            .withPropertyValues(
                    "spring.data.redis.url=" + server.uri(),
                    "easy-cache.command-timeout=5s",
                    "easy-cache.spring-cache.enabled=true",
                    "easy-cache.caches.kept.ttl=50ms",
                    "easy-cache.caches.kept.stale-window=0s",
                    "easy-cache.caches.kept.load-retry-after=1m",
                    "easy-cache.caches.kept.stale-on-error=1h");

    @Configuration(proxyBeanMethods = false)
    @EnableCaching
    static class Caching {}

    static class Products {

        final ConcurrentHashMap<Long, String> rows = new ConcurrentHashMap<>();
        final AtomicInteger failures = new AtomicInteger();
        volatile boolean dead;

        @Cacheable("kept")
        public String find(long id) {
            return load(id);
        }

        @Cacheable(cacheNames = "kept", sync = true)
        public String findOnce(long id) {
            return load(id);
        }

        @Cacheable("kept")
        public CompletableFuture<String> findLater(long id) {
            return CompletableFuture.completedFuture(load(id));
        }

        @CacheEvict("kept")
        public void change(long id) {}

        private String load(long id) {
            if (dead) {
                failures.incrementAndGet();
                throw new IllegalStateException("no database");
            }
            return rows.get(id);
        }
    }

    @Test
    void returnsTheExpiredValueUntilItIsEvicted() {
        server.flush();
        runner.run(context -> {
            Products products = context.getBean(Products.class);
            Products target = AopTestUtils.getTargetObject(products);
            expires(target, 1, products::find);
            expires(target, 2, products::findOnce);
            expires(target, 3, id -> products.findLater(id).join());

            products.change(1);
            assertThatThrownBy(() -> products.find(1)).hasMessage("no database");
        });
    }

    private static void expires(Products target, long id, LongFunction<String> read) {
        target.dead = false;
        target.rows.put(id, "lamp");
        assertThat(read.apply(id)).isEqualTo("lamp");
        target.dead = true;
        target.failures.set(0);
        await().pollInterval(Duration.ofMillis(5)).until(() -> {
            assertThat(read.apply(id)).isEqualTo("lamp");
            return target.failures.get() > 0;
        });
        assertThat(read.apply(id)).isEqualTo("lamp");
        assertThat(target.failures).hasValue(1);
    }
}
