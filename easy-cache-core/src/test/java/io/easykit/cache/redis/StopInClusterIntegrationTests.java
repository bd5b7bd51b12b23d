package io.easykit.cache.redis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.engine.LogCapture;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.redis.DedicatedConnections;
import io.easykit.test.RedisCluster;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A cache stops while one master of a cluster hangs, and invalidations wait for it. */
class StopInClusterIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofMillis(250);

    private static final CacheSpec<String> SPEC = CacheSpec.of("stock", String.class);

    private final List<Runnable> closing = new ArrayList<>();

    @AfterEach
    void close() {
        for (int i = closing.size() - 1; i >= 0; i--) {
            closing.get(i).run();
        }
    }

    @Test
    void waitsOnceForTheMasterAndClearsTheOthers() {
        RedisCluster cluster = RedisCluster.start(3, 0, "--cluster-require-full-coverage", "no");
        closing.add(cluster::close);
        EasyCacheEngine stopping = cache(cluster);
        EasyCacheEngine other = cache(cluster);
        List<CacheKey<String>> keys =
                cluster.masters().stream().map(master -> keyOn(cluster, master)).toList();
        for (EasyCacheEngine cache : List.of(stopping, other)) {
            await().until(() -> requireNonNull(cache.availability(CacheSpec.DEFAULT_CLUSTER))
                            .masters()
                            .size()
                    == 3);
        }
        keys.forEach(key -> {
            assertThat(stopping.fetch(key, () -> "old")).isEqualTo("old");
            assertThat(other.fetch(key, () -> "not stored")).isEqualTo("old");
        });

        cluster.masters().get(0).pause();
        stopping.update(List.of(SPEC.all()), () -> null);
        long began = System.nanoTime();
        try (LogCapture log = LogCapture.of("io.easykit.cache.engine")) {
            stopping.stop();

            assertThat(log.warnings()).singleElement().asString().contains("all of 'stock'");
        }

        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(2));
        for (CacheKey<String> key : keys.subList(1, 3)) {
            await().untilAsserted(
                            () -> assertThat(other.fetch(key, () -> "new")).isEqualTo("new"));
        }
    }

    private EasyCacheEngine cache(RedisCluster cluster) {
        LettuceConnectionFactory application = new LettuceConnectionFactory(
                new RedisClusterConfiguration(List.of(cluster.addresses().split(",", -1))));
        LettuceConnectionFactory own = DedicatedConnections.copyOf(application, TIMEOUT);
        own.start();
        closing.add(own::destroy);
        EasyCacheEngine cache = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, new RedisEntryStore(own, TIMEOUT))
                .build();
        closing.add(cache::stop);
        return cache;
    }

    private static CacheKey<String> keyOn(RedisCluster cluster, RedisServer master) {
        return IntStream.range(0, 1_000)
                .mapToObj(SPEC::key)
                .filter(key -> cluster.masterOf("ec:" + key.name()).equals(master))
                .findFirst()
                .orElseThrow();
    }
}
