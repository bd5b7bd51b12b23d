package io.easykit.benchmarks.cache.contender;

import com.alicp.jetcache.support.Fastjson2KeyConvertor;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.easykit.cache.Availability;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.EasyCache;
import io.easykit.cache.Transactions;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.cache.caffeine.CaffeineCacheManager;
import org.springframework.cache.support.AbstractValueAdaptingCache;
import org.springframework.cache.support.SimpleCacheManager;

/** Creates the contenders at the local level. All keep at most 10,000 entries. */
final class LocalContenders {

    private static final int MAXIMUM_SIZE = 10_000;

    private LocalContenders() {}

    static Contender caffeine(Products source) {
        Cache<Long, Product> cache = bounded().build();
        return Contender.of(id -> Objects.requireNonNull(cache.get(id, source::product)), () -> {});
    }

    static Contender easyCache(Products source) {
        return EasyCacheContender.over(LocalContenders::localLevelOnly, source);
    }

    /** After the first read of a key the store is not called for five minutes. */
    static Contender easyCacheNear(Products source) {
        return EasyCacheContender.over(
                transactions -> EasyCacheEngine.builder(new FullStore.OneProduct(source.product(1)))
                        .store(CacheSpec.DEFAULT_CLUSTER, new FullStore())
                        .transactions(transactions)
                        .nearLevels(() -> CaffeineLocalLevel.near(MAXIMUM_SIZE, System::nanoTime))
                        .build(),
                source,
                "--easy-cache.defaults.near-ttl=5m");
    }

    static Contender copies(Products source) {
        return EasyCacheContender.listsOver(LocalContenders::localLevelOnly, source);
    }

    /** The state in an outage of Redis, forced as by an operator. */
    private static EasyCache localLevelOnly(Transactions transactions) {
        EasyCache cache = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, new FullStore())
                .transactions(transactions)
                .localLevels(() -> new CaffeineLocalLevel(MAXIMUM_SIZE))
                .degraded(DegradedOptions.defaults().withLocalTtl(Setup.TTL))
                .build();
        Objects.requireNonNull(cache.availability(CacheSpec.DEFAULT_CLUSTER)).force(Availability.State.UNAVAILABLE);
        return cache;
    }

    static Contender easyCacheAnnotation(Products source) {
        return EasyCacheContender.over(transactions -> overFullStore(transactions, source), source);
    }

    static Contender easyCacheCall(Products source) {
        EasyCache cache = overFullStore(Transactions.NONE, source);
        CacheSpec<Product> products = CacheSpec.of("product", Product.class);
        return Contender.of(
                id -> Objects.requireNonNull(cache.fetch(products.key(id), () -> source.product(id))), () -> {});
    }

    /** What every annotation costs that Spring's proxies implement, whatever its interceptor does. */
    static Contender proxy(Products source) {
        Product product = source.product(1);
        ProxyFactory proxies = new ProxyFactory(new Proxied(source));
        proxies.setProxyTargetClass(true);
        proxies.addAdvice((MethodInterceptor) invocation -> product);
        return Contender.of((Products) proxies.getProxy(), () -> {});
    }

    /** The bean behind a proxy. */
    static class Proxied implements Products {

        private final Products source;

        Proxied(Products source) {
            this.source = source;
        }

        @Override
        public Product product(long id) {
            return source.product(id);
        }
    }

    static Contender spring(Products source, boolean sync) {
        CaffeineCacheManager caches = new CaffeineCacheManager("product");
        caches.setCaffeine(bounded());
        return SpringContender.over(caches, source, sync);
    }

    static Contender springAnnotation(Products source) {
        SimpleCacheManager caches = new SimpleCacheManager();
        caches.setCaches(List.of(new FullCache(source.product(1))));
        caches.initializeCaches();
        return SpringContender.over(caches, source, false);
    }

    static Contender jetCache(Products source) {
        return JetCacheContender.local(source, Fastjson2KeyConvertor.INSTANCE);
    }

    static Contender jetCacheTuned(Products source) {
        return JetCacheContender.local(source, Function.identity());
    }

    /** Beside a Redis of its own, which the hits do not reach. */
    static Contender jetCacheBoth(Products source) {
        RedisServer redis = RedisServer.start();
        Contender both = JetCacheContender.both(
                new Setup(redis.host(), redis.port(), source, Duration.ofSeconds(1)),
                JetCacheContender.LocalAndRemote::new);
        return Contender.of(both, () -> {
            both.close();
            redis.close();
        });
    }

    private static EasyCache overFullStore(Transactions transactions, Products source) {
        return EasyCacheEngine.builder(new FullStore.OneProduct(source.product(1)))
                .store(CacheSpec.DEFAULT_CLUSTER, new FullStore())
                .transactions(transactions)
                .build();
    }

    private static Caffeine<Object, Object> bounded() {
        return Caffeine.newBuilder().maximumSize(MAXIMUM_SIZE).expireAfterWrite(Setup.TTL);
    }

    /** Contains the product under every key. */
    private static final class FullCache extends AbstractValueAdaptingCache {

        private final Product product;

        FullCache(Product product) {
            super(false);
            this.product = product;
        }

        @Override
        protected Object lookup(Object key) {
            return product;
        }

        @Override
        public String getName() {
            return "product";
        }

        @Override
        public Object getNativeCache() {
            return this;
        }

        @Override
        @SuppressWarnings("unchecked") // the only cached method returns products
        public <T> T get(Object key, Callable<T> loader) {
            return (T) product;
        }

        @Override
        public void put(Object key, @Nullable Object value) {}

        @Override
        public void evict(Object key) {}

        @Override
        public void clear() {}
    }
}
