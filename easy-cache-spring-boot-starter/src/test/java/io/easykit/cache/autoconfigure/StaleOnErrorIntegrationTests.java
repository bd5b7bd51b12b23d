package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** The example of a source that fails in the documentation, in two processes on one Redis. */
class StaleOnErrorIntegrationTests {

    private static final Path PAGE = Path.of("..", "docs", "easy-cache", "consistency.md");

    private final RedisServer server = RedisServer.shared();
    private final Database database = new Database();
    private final List<CacheListener.Hit> hits = new CopyOnWriteArrayList<>();

    static final class NotFoundException extends RuntimeException {

        private static final long serialVersionUID = 1L;
    }

    static final class Database {

        private final ConcurrentHashMap<Long, String> rows = new ConcurrentHashMap<>();
        private final AtomicInteger queries = new AtomicInteger();
        private volatile boolean dead;
        private volatile CountDownLatch answers = new CountDownLatch(0);

        String find(long id) {
            queries.incrementAndGet();
            try {
                answers.await();
            } catch (InterruptedException stop) {
                throw new AssertionError(stop);
            }
            if (dead) {
                throw new IllegalStateException("no database");
            }
            String row = rows.get(id);
            if (row == null) {
                throw new NotFoundException();
            }
            return row;
        }
    }

    static class Products {

        private final Database database;

        Products(Database database) {
            this.database = database;
        }

        @Cacheable(
                prefix = "product",
                keys = "#id",
                ttl = "10m",
                staleOnError = "1h",
                staleOnErrorExcept = NotFoundException.class)
        public String find(long id) {
            return database.find(id);
        }

        @UpdateCache(prefix = "product", keys = "#id")
        public void rename(long id, String name) {
            database.rows.put(id, name);
        }
    }

    /** The TTL is set short, so that values expire while the test runs. */
    private ApplicationContextRunner node(String... settings) {
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
                .withPropertyValues(
                        "spring.data.redis.url=" + server.uri(),
                        "easy-cache.command-timeout=5s",
                        "easy-cache.caches.product.ttl=50ms",
                        "easy-cache.caches.product.stale-window=0s",
                        "easy-cache.caches.product.load-retry-after=1m")
                .withPropertyValues(settings);
    }

    private static Products products(ApplicationContext application) {
        return application.getBean(Products.class);
    }

    private void expire(ApplicationContext here) {
        database.rows.put(1L, "lamp");
        assertThat(products(here).find(1)).isEqualTo("lamp");
        database.dead = true;
        await().pollInterval(Duration.ofMillis(5)).until(() -> {
            assertThat(products(here).find(1)).isEqualTo("lamp");
            return hits.contains(CacheListener.Hit.EXPIRED);
        });
    }

    @Test
    void returnsExpiredValuesWhileTheDatabaseIsDeadAndNeverAnInvalidatedOne() {
        server.flush();
        node().run(here -> node().run(elsewhere -> {
            expire(here);
            int queries = database.queries.get();
            for (int i = 0; i < 100; i++) {
                assertThat(products(here).find(1)).isEqualTo("lamp");
                assertThat(products(elsewhere).find(1)).isEqualTo("lamp");
            }
            assertThat(database.queries.get() - queries)
                    .as("one trial on the other node")
                    .isOne();

            products(elsewhere).rename(1, "torch");
            assertThatThrownBy(() -> products(here).find(1)).hasMessage("no database");
            database.dead = false;
            assertThat(products(here).find(1)).isEqualTo("torch");
        }));
    }

    @Test
    void passesTheAnswerThatThereIsNothing() {
        server.flush();
        node("easy-cache.caches.product.load-retry-after=10ms").run(here -> {
            expire(here);
            database.dead = false;
            database.rows.clear();
            await().pollInterval(Duration.ofMillis(5)).until(() -> {
                try {
                    products(here).find(1);
                    return false;
                } catch (NotFoundException answer) {
                    return true;
                }
            });
        });
    }

    @Test
    void returnsExpiredValuesWhileTheDatabaseHangs() {
        server.flush();
        // After the pause a reader loads on its own thread if no other one has begun, which takes time on a busy
        // machine.
        node("easy-cache.caches.product.load-soft-timeout=10ms", "easy-cache.caches.product.load-retry-after=5s")
                .run(here -> {
                    expire(here);
                    database.dead = false;
                    database.answers = new CountDownLatch(1);
                    for (int i = 0; i < 20; i++) {
                        assertThat(products(here).find(1)).isEqualTo("lamp");
                    }
                    database.rows.put(1L, "torch");
                    database.answers.countDown();
                    await().until(() -> products(here).find(1).equals("torch"));
                });
    }

    @Test
    void isDeclaredAsTheDocumentationShows() throws IOException {
        assertThat(Files.readString(PAGE))
                .contains("@Cacheable(prefix = \"product\", keys = \"#id\", ttl = \"10m\", staleOnError = \"1h\","
                        + " staleOnErrorExcept = NotFoundException.class)");
    }
}
