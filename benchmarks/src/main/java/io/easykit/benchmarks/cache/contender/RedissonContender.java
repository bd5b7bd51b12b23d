package io.easykit.benchmarks.cache.contender;

import java.util.Map;
import org.redisson.Redisson;
import org.redisson.api.RBucket;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.config.Config;
import org.redisson.spring.cache.CacheConfig;
import org.redisson.spring.cache.RedissonSpringCacheManager;

/** Redisson behind Spring's {@code @Cacheable}, and its plainest object. */
final class RedissonContender {

    private RedissonContender() {}

    static Contender defaults(Setup setup) {
        RedissonClient redisson = connect(setup);
        CacheConfig life = new CacheConfig(Setup.TTL.toMillis(), 0);
        Contender cached = SpringContender.over(
                new RedissonSpringCacheManager(redisson, Map.of("product", life)), setup.database(), false);
        return Contender.of(cached, () -> {
            cached.close();
            redisson.shutdown();
        });
    }

    static Contender tuned(Setup setup) {
        RedissonClient redisson = connect(setup);
        Products cached = id -> {
            RBucket<byte[]> bucket = redisson.getBucket("redisson:product::" + id, ByteArrayCodec.INSTANCE);
            byte[] json = bucket.get();
            if (json != null) {
                return Json.read(json);
            }
            Product product = setup.database().product(id);
            bucket.set(Json.write(product), Setup.TTL);
            return product;
        };
        return Contender.of(cached, redisson::shutdown);
    }

    private static RedissonClient connect(Setup setup) {
        Config config = new Config();
        config.useSingleServer().setAddress("redis://" + setup.host() + ":" + setup.port());
        return Redisson.create(config);
    }
}
