package io.easykit.benchmarks.contender;

import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.redis.RedisEntryStore;
import java.time.Duration;
import java.util.Objects;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** easy-cache. */
final class EasyCacheContender {

    private EasyCacheContender() {}

    static Contender open(Setup setup) {
        LettuceConnectionFactory factory = new LettuceConnectionFactory(setup.host(), setup.port());
        factory.afterPropertiesSet();
        factory.start();
        RedisEntryStore store = new RedisEntryStore(factory, Duration.ofMillis(250));
        EasyCache cache = EasyCache.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .build();
        CacheSpec<Product> products = CacheSpec.of("product", Product.class)
                .withOptions(CacheOptions.defaults().withElection(setup.election()));
        return Contender.of(
                id -> Objects.requireNonNull(
                        cache.fetch(products.key(id), () -> setup.database().product(id))),
                factory::destroy);
    }

    /** Without the annotation. */
    static Contender call(EasyCache cache, Products source) {
        CacheSpec<Product> products = CacheSpec.of("product", Product.class);
        return Contender.of(
                id -> Objects.requireNonNull(cache.fetch(products.key(id), () -> source.product(id))), () -> {});
    }
}
