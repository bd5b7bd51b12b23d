package io.easykit.cache.springcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.InvalidCacheCallException;
import io.easykit.cache.springcache.SpringShop.Facade;
import io.easykit.cache.springcache.SpringShop.Product;
import io.easykit.cache.springcache.SpringShop.Products;
import io.easykit.test.RedisServer;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.CacheConfig;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.Caching;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.interceptor.KeyGenerator;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.AliasFor;
import org.springframework.test.util.AopTestUtils;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Attributes and settings of Spring's cache that few applications use. Here null is not cached. */
class SpringCacheVariantsIntegrationTests {

    @Retention(RetentionPolicy.RUNTIME)
    @Cacheable(keyGenerator = "lastArgument")
    @interface CachedByLast {

        @AliasFor(annotation = Cacheable.class, attribute = "cacheNames")
        String value();
    }

    @CacheConfig(cacheNames = "configured", keyGenerator = "lastArgument")
    static class Variants {

        final AtomicInteger loads = new AtomicInteger();
        final CountDownLatch loading = new CountDownLatch(1);
        final CountDownLatch mayLoad = new CountDownLatch(1);

        @Cacheable
        public Product configured(String ignored, long id) {
            return load(id);
        }

        @CachedByLast("composed")
        public Product composed(String ignored, long id) {
            return load(id);
        }

        @Cacheable(cacheNames = "tenant", key = "#id")
        public Mono<String> ofTenant(long id) {
            loads.incrementAndGet();
            return Mono.deferContextual(context -> Mono.just(context.get("tenant") + " " + id));
        }

        @Cacheable(cacheNames = "slow", key = "#id")
        public Mono<Product> slowly(long id) {
            return Mono.fromCallable(() -> {
                loading.countDown();
                assertThat(mayLoad.await(30, TimeUnit.SECONDS)).isTrue();
                return load(id);
            });
        }

        @Cacheable(cacheNames = "missing", key = "#id")
        public Product missing(long id) {
            loads.incrementAndGet();
            return null;
        }

        @CacheEvict(cacheNames = "configured", allEntries = true, condition = "#result == 'clear'")
        public String clearAndFail() {
            throw new IllegalStateException("after the change");
        }

        /** The key of the second one is known after the method, which fails then or returns. */
        @Caching(
                evict = {
                    @CacheEvict(cacheNames = "composed", keyGenerator = "supplied"),
                    @CacheEvict(cacheNames = "configured", key = "#id.get()")
                })
        public void change(Supplier<Object> first, AtomicReference<Long> id, long value, Runnable end) {
            id.set(value);
            end.run();
        }

        @Cacheable(cacheNames = "two", key = "#id")
        public CompletableFuture<Product> deep(long id, Runnable inner) {
            inner.run();
            return CompletableFuture.completedFuture(load(id));
        }

        private Product load(long id) {
            loads.incrementAndGet();
            return new Product(id, "loaded");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCaching
    @Import(SpringShop.Application.class)
    static class Application {

        @Bean
        KeyGenerator lastArgument() {
            return (target, method, arguments) -> arguments[arguments.length - 1];
        }

        @Bean
        KeyGenerator supplied() {
            return (target, method, arguments) -> ((Supplier<?>) arguments[0]).get();
        }

        @Bean
        Variants variants() {
            return new Variants();
        }
    }

    private static final AtomicInteger IDS = new AtomicInteger(5_000_000);
    private static ConfigurableApplicationContext context;

    private final int id = IDS.incrementAndGet();
    private final Variants variants = context.getBean(Variants.class);
    private final Variants target = AopTestUtils.getTargetObject(variants);
    private final CacheManager manager = context.getBean(CacheManager.class);

    @BeforeAll
    static void start() {
        RedisServer.shared().flush();
        context = SpringShop.start(Application.class, "easy-cache.spring-cache.allow-null-values=false");
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @BeforeEach
    void reset() {
        target.loads.set(0);
    }

    @Test
    void aKeyGeneratorMayBeConfiguredForTheClassOrTheAnnotation() {
        variants.configured("a", id);
        variants.configured("b", id);
        assertThat(target.loads).hasValue(1);

        variants.composed("a", id);
        variants.composed("b", id);
        assertThat(target.loads).hasValue(2);
        assertThat(manager.getCache("configured").get((long) id)).isNotNull();
        assertThat(manager.getCache("composed").get((long) id)).isNotNull();
    }

    /** @param failure of the method; empty if it returns */
    @ParameterizedTest
    @ValueSource(strings = {"", "after the commit"})
    void aKeyGeneratorThatFailsKeepsNoOtherKeyFromBeingInvalidated(String failure) {
        AtomicInteger calls = new AtomicInteger();
        Supplier<Object> onceOnly = () -> {
            if (calls.getAndIncrement() > 0) {
                throw new StackOverflowError("no key");
            }
            return 1L;
        };
        variants.configured("a", id);

        assertThatThrownBy(() -> variants.change(onceOnly, new AtomicReference<>(), id, () -> {
                    if (!failure.isEmpty()) {
                        throw new IllegalStateException(failure);
                    }
                }))
                .hasMessage(failure.isEmpty() ? "no key" : failure);

        variants.configured("a", id);
        assertThat(target.loads).hasValue(2);
    }

    @Test
    void nullIsNotCached() {
        assertThat(variants.missing(id)).isNull();
        assertThat(variants.missing(id)).isNull();
        assertThat(target.loads).hasValue(2);
    }

    @Test
    void codeStoresNoNull() {
        Cache cache = manager.getCache("missing");
        assertThat(cache.<Product>get(id, () -> null)).isNull();
        assertThat(cache.get(id)).isNull();
        cache.put(id, null);
        assertThat(cache.get(id)).isNull();
        assertThatThrownBy(() -> cache.putIfAbsent(id, null))
                .isInstanceOf(InvalidCacheCallException.class)
                .hasMessageContaining("null is not cached");
        assertThat(cache.get(id)).isNull();
    }

    @Test
    void theContextOfTheSubscriberReachesTheMethod() {
        Mono<String> read = variants.ofTenant(id).contextWrite(context -> context.put("tenant", "a"));
        assertThat(read.block(Duration.ofSeconds(30))).isEqualTo("a " + id);
        assertThat(read.block(Duration.ofSeconds(30))).isEqualTo("a " + id);
        assertThat(target.loads).hasValue(1);
    }

    @Test
    void aSubscriberThatCancelsDoesNotCancelTheLoad() throws Exception {
        Disposable reader = variants.slowly(id).subscribe();
        assertThat(target.loading.await(30, TimeUnit.SECONDS)).isTrue();
        reader.dispose();
        target.mayLoad.countDown();

        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .until(() -> manager.getCache("slow").get((long) id) != null);
        assertThat(target.loads).hasValue(1);
    }

    /** More than the threads of background refreshes. */
    @Test
    void futuresMayWaitForEachOther() {
        AtomicReference<Runnable> chain = new AtomicReference<>(() -> {});
        IntStream.range(0, 20).forEach(depth -> {
            Runnable inner = chain.get();
            long own = IDS.incrementAndGet();
            chain.set(() -> assertThat(variants.deep(own, inner).join().id()).isEqualTo(own));
        });
        chain.get().run();
        assertThat(target.loads).hasValue(20);
    }

    @Test
    void aConditionOverTheResultOfAFailedMethodClears() {
        variants.configured("a", id);

        assertThatThrownBy(variants::clearAndFail).hasMessage("after the change");

        variants.configured("a", id);
        assertThat(target.loads).hasValue(2);
    }

    /** They run on other threads, and so outside of the transaction. */
    @Test
    void futuresAndPublishersInATransactionAreStored() {
        SpringShop.add(context, new Product(id, "old"));
        long other = IDS.incrementAndGet();
        SpringShop.add(context, new Product(other, "old"));
        Products products = context.getBean(Products.class);
        Products rows = AopTestUtils.getTargetObject(products);
        rows.loads.set(0);

        context.getBean(Facade.class).run(() -> {
            assertThat(products.findLater(id).join().name()).isEqualTo("old");
            assertThat(products.findReactively(other)
                            .block(Duration.ofSeconds(30))
                            .name())
                    .isEqualTo("old");
        });

        assertThat(List.of(products.find(id).name(), products.find(other).name()))
                .containsOnly("old");
        assertThat(rows.loads).hasValue(2);
    }
}
