package io.easykit.benchmarks.cache.contender;

import com.alicp.jetcache.CacheBuilder;
import com.alicp.jetcache.anno.CacheConsts;
import com.alicp.jetcache.anno.CachePenetrationProtect;
import com.alicp.jetcache.anno.CacheType;
import com.alicp.jetcache.anno.Cached;
import com.alicp.jetcache.anno.config.EnableMethodCache;
import com.alicp.jetcache.anno.support.GlobalCacheConfig;
import com.alicp.jetcache.anno.support.JetCacheBaseBeans;
import com.alicp.jetcache.embedded.CaffeineCacheBuilder;
import com.alicp.jetcache.redis.lettuce.JetCacheCodec;
import com.alicp.jetcache.redis.lettuce.RedisLettuceCacheBuilder;
import com.alicp.jetcache.support.Fastjson2KeyConvertor;
import com.alicp.jetcache.support.JavaValueDecoder;
import com.alicp.jetcache.support.JavaValueEncoder;
import com.alicp.jetcache.support.Kryo5ValueDecoder;
import com.alicp.jetcache.support.Kryo5ValueEncoder;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** JetCache's {@code @Cached}, configured by its own beans, because its Boot starter does not support Boot 4. */
final class JetCacheContender {

    private static final int TTL_SECONDS = 600;

    private JetCacheContender() {}

    static Contender defaults(Setup setup) {
        RedisClient client = RedisClient.create(RedisURI.create(setup.host(), setup.port()));
        CacheBuilder remote = remote(client)
                .keyConvertor(Fastjson2KeyConvertor.INSTANCE)
                .valueEncoder(JavaValueEncoder.INSTANCE)
                .valueDecoder(JavaValueDecoder.INSTANCE);
        return open(Map.of(), remotely(remote), Remote.class, () -> new Remote(setup.database()), client::shutdown);
    }

    static Contender tuned(Setup setup) {
        RedisClient client = RedisClient.create(RedisURI.create(setup.host(), setup.port()));
        CacheBuilder remote = remote(client)
                .keyConvertor(String::valueOf)
                .valueEncoder(Kryo5ValueEncoder.INSTANCE)
                .valueDecoder(Kryo5ValueDecoder.INSTANCE);
        return open(
                Map.of(), remotely(remote), Protected.class, () -> new Protected(setup.database()), client::shutdown);
    }

    /** A local level for one second in front of Redis. */
    static Contender both(Setup setup) {
        return both(setup, BrieflyLocal::new);
    }

    static Contender both(Setup setup, Function<Products, ? extends Products> bean) {
        RedisClient client = RedisClient.create(RedisURI.create(setup.host(), setup.port()));
        CacheBuilder remote = remote(client)
                .keyConvertor(String::valueOf)
                .valueEncoder(Kryo5ValueEncoder.INSTANCE)
                .valueDecoder(Kryo5ValueDecoder.INSTANCE);
        CacheBuilder local = CaffeineCacheBuilder.createCaffeineCacheBuilder().keyConvertor(Function.identity());
        return open(
                Map.of(CacheConsts.DEFAULT_AREA, local),
                remotely(remote),
                Products.class,
                () -> bean.apply(setup.database()),
                client::shutdown);
    }

    static Contender local(Products database, Function<Object, Object> keyConvertor) {
        CacheBuilder local = CaffeineCacheBuilder.createCaffeineCacheBuilder().keyConvertor(keyConvertor);
        return open(
                Map.of(CacheConsts.DEFAULT_AREA, local), Map.of(), Local.class, () -> new Local(database), () -> {});
    }

    @SuppressWarnings("unchecked") // its codec has no type arguments
    private static RedisLettuceCacheBuilder<?> remote(RedisClient client) {
        return RedisLettuceCacheBuilder.createRedisLettuceCacheBuilder()
                .keyPrefix("jet:")
                .redisClient(client)
                .connection(client.connect(new JetCacheCodec()));
    }

    private static Map<String, CacheBuilder> remotely(CacheBuilder remote) {
        return Map.of(CacheConsts.DEFAULT_AREA, remote);
    }

    private static <T extends Products> Contender open(
            Map<String, CacheBuilder> local,
            Map<String, CacheBuilder> remote,
            Class<T> type,
            Supplier<T> bean,
            Runnable close) {
        GlobalCacheConfig config = new GlobalCacheConfig();
        config.setLocalCacheBuilders(local);
        config.setRemoteCacheBuilders(remote);
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.register(Caching.class);
        context.registerBean(GlobalCacheConfig.class, () -> config);
        context.registerBean(type, bean);
        context.refresh();
        return Contender.of(context.getBean(type), () -> {
            context.close();
            close.run();
        });
    }

    @Configuration
    @EnableMethodCache(basePackages = "io.easykit.benchmarks.cache.contender", proxyTargetClass = true)
    @Import(JetCacheBaseBeans.class)
    static class Caching {}

    static class Remote implements Products {
        private final Products database;

        Remote(Products database) {
            this.database = database;
        }

        @Override
        @Cached(name = "product:", key = "#id", expire = TTL_SECONDS, cacheType = CacheType.REMOTE)
        public Product product(long id) {
            return database.product(id);
        }
    }

    static class Protected implements Products {
        private final Products database;

        Protected(Products database) {
            this.database = database;
        }

        @Override
        @Cached(name = "prodkryo:", key = "#id", expire = TTL_SECONDS, cacheType = CacheType.REMOTE)
        @CachePenetrationProtect
        public Product product(long id) {
            return database.product(id);
        }
    }

    static class Local implements Products {
        private final Products database;

        Local(Products database) {
            this.database = database;
        }

        @Override
        @Cached(name = "product:", key = "#id", expire = TTL_SECONDS, localLimit = 10_000, cacheType = CacheType.LOCAL)
        public Product product(long id) {
            return database.product(id);
        }
    }

    static class BrieflyLocal implements Products {
        private final Products database;

        BrieflyLocal(Products database) {
            this.database = database;
        }

        @Override
        @Cached(
                name = "prodboth:",
                key = "#id",
                expire = TTL_SECONDS,
                localExpire = 1,
                localLimit = 10_000,
                cacheType = CacheType.BOTH)
        public Product product(long id) {
            return database.product(id);
        }
    }

    static class LocalAndRemote implements Products {
        private final Products database;

        LocalAndRemote(Products database) {
            this.database = database;
        }

        @Override
        @Cached(name = "prodboth:", key = "#id", expire = TTL_SECONDS, localLimit = 10_000, cacheType = CacheType.BOTH)
        public Product product(long id) {
            return database.product(id);
        }
    }
}
