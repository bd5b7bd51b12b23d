package io.easykit.benchmarks.cache.contender;

import java.util.function.Function;
import java.util.function.Supplier;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.cache.RedisCacheConfiguration;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.cache.RedisCacheWriter;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.serializer.JacksonJsonRedisSerializer;
import org.springframework.data.redis.serializer.RedisSerializationContext.SerializationPair;

/** Spring's {@code @Cacheable}. */
final class SpringContender {

    private SpringContender() {}

    static Contender defaults(Setup setup) {
        return open(setup, false, lifeOfTenMinutes(), RedisCacheWriter::nonLockingRedisCacheWriter);
    }

    static Contender tuned(Setup setup) {
        return open(setup, true, asJson(), RedisCacheWriter::nonLockingRedisCacheWriter);
    }

    static Contender locking(Setup setup) {
        return open(setup, true, asJson(), RedisCacheWriter::lockingRedisCacheWriter);
    }

    /** {@code @Cacheable} over any cache. */
    static Contender over(CacheManager caches, Products database, boolean sync) {
        return sync
                ? open(caches, Synced.class, () -> new Synced(database))
                : open(caches, Cached.class, () -> new Cached(database));
    }

    private static Contender open(
            Setup setup,
            boolean sync,
            RedisCacheConfiguration settings,
            Function<RedisConnectionFactory, RedisCacheWriter> writer) {
        LettuceConnectionFactory factory = new LettuceConnectionFactory(setup.host(), setup.port());
        factory.afterPropertiesSet();
        factory.start();
        CacheManager caches = RedisCacheManager.builder(writer.apply(factory))
                .cacheDefaults(settings)
                .build();
        Contender cached = over(caches, setup.database(), sync);
        return Contender.of(cached, () -> {
            cached.close();
            factory.destroy();
        });
    }

    private static RedisCacheConfiguration asJson() {
        return lifeOfTenMinutes()
                .prefixCacheNameWith("json:")
                .serializeValuesWith(SerializationPair.fromSerializer(new JacksonJsonRedisSerializer<>(Product.class)));
    }

    private static RedisCacheConfiguration lifeOfTenMinutes() {
        return RedisCacheConfiguration.defaultCacheConfig().entryTtl(Setup.TTL);
    }

    private static <T extends Products> Contender open(CacheManager caches, Class<T> type, Supplier<T> bean) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.register(Caching.class);
        context.registerBean(CacheManager.class, () -> caches);
        context.registerBean(type, bean);
        context.refresh();
        return Contender.of(context.getBean(type), context::close);
    }

    @Configuration
    @EnableCaching(proxyTargetClass = true) // as Spring Boot does
    static class Caching {}

    /** The annotation with its defaults. */
    static class Cached implements Products {
        private final Products database;

        Cached(Products database) {
            this.database = database;
        }

        @Override
        @Cacheable(cacheNames = "product", key = "#id")
        public Product product(long id) {
            return database.product(id);
        }
    }

    /** The annotation with its protection against concurrent loads. */
    static class Synced implements Products {
        private final Products database;

        Synced(Products database) {
            this.database = database;
        }

        @Override
        @Cacheable(cacheNames = "product", key = "#id", sync = true)
        public Product product(long id) {
            return database.product(id);
        }
    }
}
