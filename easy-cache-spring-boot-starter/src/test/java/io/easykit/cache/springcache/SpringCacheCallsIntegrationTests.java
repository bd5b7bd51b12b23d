package io.easykit.cache.springcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.InvalidCacheCallException;
import io.easykit.cache.springcache.SpringShop.Facade;
import io.easykit.cache.springcache.SpringShop.Product;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.cache.Cache;
import org.springframework.cache.Cache.ValueRetrievalException;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Calls of the cache manager by code. */
class SpringCacheCallsIntegrationTests {

    @Configuration(proxyBeanMethods = false)
    @EnableCaching
    @Import(SpringShop.Application.class)
    static class Application {

        @Bean
        CacheSpec<Product> byHand() {
            return CacheSpec.of("by-hand", Product.class);
        }
    }

    private static final AtomicInteger IDS = new AtomicInteger(1_000_000);
    private static ConfigurableApplicationContext context;

    private final int id = IDS.incrementAndGet();
    private final CacheManager manager = context.getBean(CacheManager.class);
    private final Cache cache = manager.getCache("by-hand");
    private final Product product = new Product(id, "old");

    @BeforeAll
    static void start() {
        RedisServer.shared().flush();
        context = SpringShop.start(Application.class);
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @Test
    void knowsItsCaches() {
        assertThat(manager).isInstanceOf(SpringCacheManager.class);
        assertThat(manager.getCacheNames()).contains("by-hand", "product", "strong", "parts");
        assertThat(manager.getCache("by-hand")).isSameAs(cache);
        assertThat(cache.getName()).isEqualTo("by-hand");
        assertThat(cache.getNativeCache()).isSameAs(context.getBean(EasyCache.class));
    }

    @Test
    void aPutAfterAMissOfTheThreadIsStored() {
        assertThat(cache.get(id)).isNull();
        cache.put(id, product);

        assertThat(cache.get(id).get()).isEqualTo(product);
        assertThat(cache.get(id, Product.class)).isEqualTo(product);
        assertThatThrownBy(() -> cache.get(id, String.class)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aPutThatAnUpdateHasOvertakenIsNotStored() {
        assertThat(cache.get(id)).isNull();
        SpringShop.elsewhere(() -> cache.evict(id));
        cache.put(id, product);

        assertThat(cache.get(id)).isNull();
    }

    @Test
    void aPutOfAnotherThreadInvalidates() {
        assertThat(cache.get(id)).isNull();
        SpringShop.elsewhere(() -> cache.put(id, product));

        assertThat(cache.get(id)).isNull();
    }

    @Test
    void aPutWithoutAMissInvalidates() {
        assertThat(cache.<Product>get(id, () -> product)).isEqualTo(product);

        cache.put(id, new Product(id, "new"));

        assertThat(cache.<Product>get(id, () -> new Product(id, "newest")).name())
                .isEqualTo("newest");
    }

    @Test
    void aPutInATransactionInvalidatesWithIt() {
        assertThat(cache.<Product>get(id, () -> product)).isEqualTo(product);
        context.getBean(Facade.class).run(() -> {
            cache.put(id, new Product(id, "new"));
            assertThat(cache.<Product>get(id, () -> new Product(id, "mine")).name())
                    .as("reads of its own transaction")
                    .isEqualTo("mine");
        });

        assertThat(cache.get(id)).isNull();
    }

    @Test
    void aTransactionStoresNothing() {
        context.getBean(Facade.class).run(() -> {
            assertThat(cache.get(id)).isNull();
            cache.put(id, product);
        });

        assertThat(cache.get(id)).isNull();
    }

    @Test
    void evictsAndClears() {
        assertThat(cache.<Product>get(id, () -> product)).isEqualTo(product);
        assertThat(cache.evictIfPresent(id)).as("not known").isFalse();
        assertThat(cache.get(id)).isNull();

        cache.put(id, product);
        assertThat(cache.get(id)).isNotNull();
        assertThat(cache.invalidate()).as("not known").isFalse();
        assertThat(cache.get(id)).isNull();
    }

    @Test
    void putsIfAbsentOnlyAfterAMiss() {
        assertThatThrownBy(() -> cache.putIfAbsent(id, product))
                .isInstanceOf(InvalidCacheCallException.class)
                .hasMessageContaining("Nothing is stored in 'by-hand'")
                .hasMessageContaining("get(key, Callable)");

        assertThat(cache.get(id)).isNull();
        assertThat(cache.putIfAbsent(id, product)).as("stored").isNull();
        assertThat(cache.putIfAbsent(id, new Product(id, "other")).get()).isEqualTo(product);
    }

    @Test
    void wrapsTheExceptionOfALoader() {
        IOException failure = new IOException("no row");
        assertThatThrownBy(() -> cache.get(id, () -> {
                    throw failure;
                }))
                .isInstanceOf(ValueRetrievalException.class)
                .cause()
                .isSameAs(failure);
    }

    @Test
    void retrievesWithoutTheThreadOfTheCaller() {
        assertThat(cache.retrieve(id).join()).isNull();
        AtomicReference<String> thread = new AtomicReference<>();
        assertThat(cache.<Product>retrieve(id, () -> {
                            thread.set(Thread.currentThread().getName());
                            return CompletableFuture.completedFuture(product);
                        })
                        .join())
                .isEqualTo(product);
        assertThat(thread.get()).startsWith("easy-cache-call-");
        assertThat(((Cache.ValueWrapper) cache.retrieve(id).join()).get()).isEqualTo(product);
    }

    @Test
    void refusesToReadACacheWithoutAType() {
        Cache unknown = manager.getCache("unknown");
        unknown.evict(1);
        unknown.put(1, "value");
        assertThatThrownBy(() -> unknown.get(1))
                .isInstanceOf(InvalidCacheCallException.class)
                .hasMessageContaining("no @Cacheable method declares the type of its values")
                .hasMessageContaining("CacheSpec.of(\"unknown\", User.class)");
    }

    /** Nothing was prepared before the change, which a CP cache needs. */
    @Test
    void invalidatesAndThenRefusesAnUpdateOfAStrongCacheOutsideOfATransaction() {
        Cache strong = manager.getCache("strong");
        assertThat(strong.<Product>get(id, () -> product)).isEqualTo(product);

        assertThatThrownBy(() -> strong.evict(id))
                .isInstanceOf(InvalidCacheCallException.class)
                .hasMessageContaining("strong::" + id)
                .hasMessageContaining("EasyCache.update");
        assertThat(strong.get(id)).isNull();

        strong.put(id, product);
        assertThat(strong.get(id)).as("the fill after a miss").isNotNull();
        assertThatThrownBy(() -> strong.put(id, product)).isInstanceOf(InvalidCacheCallException.class);
        context.getBean(Facade.class).run(() -> strong.evict(id));
        assertThat(strong.get(id)).isNull();
    }
}
