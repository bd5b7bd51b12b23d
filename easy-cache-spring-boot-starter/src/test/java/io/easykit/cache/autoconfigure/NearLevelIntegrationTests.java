package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** The example of the near level in the documentation, in two processes on one Redis. */
class NearLevelIntegrationTests {

    private static final Path PAGE = Path.of("..", "docs", "easy-cache", "consistency.md");

    private final RedisServer server = RedisServer.shared();
    private final ConcurrentHashMap<Long, String> database = new ConcurrentHashMap<>();
    private final List<CacheListener.Hit> hits = new CopyOnWriteArrayList<>();

    static class Products {

        private final ConcurrentHashMap<Long, String> database;

        Products(ConcurrentHashMap<Long, String> database) {
            this.database = database;
        }

        @Cacheable(prefix = "product", keys = "#id", nearTtl = "1s")
        public String find(long id) {
            return database.get(id);
        }

        @UpdateCache(prefix = "product", keys = "#id")
        public void rename(long id, String name) {
            database.put(id, name);
        }
    }

    private ApplicationContextRunner node() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class, DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
                .withBean(Products.class, () -> new Products(database))
                .withBean(CacheListener.class, () -> new CacheListener() {
                    @Override
                    public void onHit(CacheKey<?> key, Hit hit) {
                        hits.add(hit);
                    }
                })
                .withPropertyValues("spring.data.redis.url=" + server.uri(), "easy-cache.command-timeout=5s");
    }

    private static Products products(ApplicationContext application) {
        return application.getBean(Products.class);
    }

    /** The setting overrides the annotation, so that the time does not matter. */
    @Test
    void returnsHotValuesWithoutRedisAndForgetsThemWithOwnUpdates() {
        server.flush();
        database.put(1L, "lamp");
        ApplicationContextRunner patient = node().withPropertyValues("easy-cache.caches.product.near-ttl=5m");
        patient.run(here -> patient.run(elsewhere -> {
            assertThat(products(here).find(1)).isEqualTo("lamp");
            assertThat(products(here).find(1)).isEqualTo("lamp");
            assertThat(hits).containsExactly(CacheListener.Hit.NEAR);

            products(elsewhere).rename(1, "torch");
            assertThat(products(here).find(1)).as("another node's update").isEqualTo("lamp");

            products(here).rename(1, "lantern");
            assertThat(products(here).find(1)).as("its own update").isEqualTo("lantern");
        }));
    }

    @ParameterizedTest
    @ValueSource(strings = {"lettuce", "jedis"})
    void forgetsUpdatesOfOtherNodesAtOnceWithHints(String client) {
        server.flush();
        database.put(1L, "lamp");
        ApplicationContextRunner hinted = node().withPropertyValues(
                        "easy-cache.caches.product.near-ttl=5m",
                        "spring.data.redis.client-type=" + client,
                        "easy-cache.near.hints=true",
                        "easy-cache.key-prefix=" + client + ":");
        hinted.run(here -> hinted.run(elsewhere -> {
            awaitSubscriptions(client + ":near", 2);
            assertThat(products(here).find(1)).isEqualTo("lamp");

            products(elsewhere).rename(1, "torch");

            await().until(() -> products(here).find(1).equals("torch"));
        }));
    }

    private void awaitSubscriptions(String channel, long count) {
        try (RawRedis redis = server.connect()) {
            await().until(() -> redis.command("PUBSUB", "NUMSUB", channel) instanceof List<?> reply
                    && reply.get(1).equals(count));
        }
    }

    @Test
    void isOffWithoutASize() {
        server.flush();
        database.put(1L, "lamp");
        node().withPropertyValues("easy-cache.near.maximum-size=0").run(here -> {
            products(here).find(1);
            products(here).find(1);
            assertThat(hits).containsExactly(CacheListener.Hit.FRESH);
        });
    }

    @Test
    void isDeclaredAsTheDocumentationShows() throws IOException {
        assertThat(Files.readString(PAGE))
                .contains("@Cacheable(prefix = \"product\", keys = \"#id\", nearTtl = \"1s\")");
    }
}
