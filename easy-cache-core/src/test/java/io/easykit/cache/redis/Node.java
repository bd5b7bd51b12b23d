package io.easykit.cache.redis;

import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import java.time.Duration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A cache with a connection of its own, as another JVM would have. */
record Node(LettuceConnectionFactory factory, RedisEntryStore store, EasyCacheEngine cache) implements AutoCloseable {

    private static final Duration PATIENT = Duration.ofSeconds(5);

    static Node on(String host, int port) {
        return on(host, port, DisconnectedBehavior.DEFAULT, PATIENT, CacheListener.NONE);
    }

    static Node on(
            String host, int port, DisconnectedBehavior behavior, Duration commandTimeout, CacheListener listener) {
        LettuceConnectionFactory factory = new LettuceConnectionFactory(
                new RedisStandaloneConfiguration(host, port),
                LettuceClientConfiguration.builder()
                        .commandTimeout(commandTimeout)
                        .shutdownTimeout(Duration.ZERO)
                        .clientOptions(ClientOptions.builder()
                                .disconnectedBehavior(behavior)
                                .build())
                        .build());
        factory.afterPropertiesSet();
        factory.start();
        RedisEntryStore store = new RedisEntryStore(factory, commandTimeout);
        EasyCacheEngine cache = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .listener(listener)
                .build();
        return new Node(factory, store, cache);
    }

    @Override
    public void close() {
        cache.stop();
        factory.destroy();
    }
}
