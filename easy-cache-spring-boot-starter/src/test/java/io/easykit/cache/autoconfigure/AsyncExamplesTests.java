package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.AsyncEasyCache;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;

/** The examples of the documentation's page on futures and publishers. That with a transaction is in {@link R2dbcIntegrationTests}. */
class AsyncExamplesTests {

    private static final Path PAGE = Path.of("..", "docs", "easy-cache", "async.md");
    private static final Path TESTS = Path.of("src/test/java/io/easykit/cache/autoconfigure");

    record User(long id, String name) {}

    /** The database, and a service that changes it. */
    static final class Dao {

        private final Map<Long, User> rows = new ConcurrentHashMap<>(Map.of(42L, new User(42, "Grace")));

        Mono<User> findById(long id) {
            return Mono.fromCallable(() -> rows.get(id));
        }

        CompletableFuture<User> findLater(long id) {
            return CompletableFuture.supplyAsync(() -> rows.get(id));
        }

        CompletableFuture<Map<Long, User>> findAllLater(Collection<Long> ids) {
            return CompletableFuture.supplyAsync(
                    () -> ids.stream().filter(rows::containsKey).collect(Collectors.toMap(id -> id, rows::get)));
        }

        CompletableFuture<User> renameLater(long id, String name) {
            return rename(new User(id, name));
        }

        CompletableFuture<User> rename(User user) {
            return CompletableFuture.supplyAsync(() -> {
                rows.put(user.id(), user);
                return user;
            });
        }
    }

    static class Users {

        private final Dao repository;
        private final Dao client;

        Users(Dao dao) {
            this.repository = dao;
            this.client = dao;
        }

        @Cacheable(prefix = "user", keys = "#id")
        public Mono<User> find(long id) {
            return repository.findById(id);
        }

        @UpdateCache(prefix = "user", keys = "#user.id")
        public CompletableFuture<User> rename(User user) {
            return client.rename(user);
        }
    }

    @Test
    void run() {
        RedisServer redis = RedisServer.shared();
        redis.flush();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class, DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
                .withPropertyValues(
                        "spring.data.redis.host=" + redis.host(),
                        "spring.data.redis.port=" + redis.port(),
                        "easy-cache.command-timeout=20s",
                        "easy-cache.defaults.stale-window=0s")
                .withBean(Dao.class)
                .withBean(Users.class)
                .run(context -> {
                    byAnnotation(context.getBean(Users.class), context.getBean(Dao.class));
                    byCode(context.getBean(EasyCache.class), context.getBean(Dao.class));
                });
    }

    private static void byAnnotation(Users users, Dao dao) {
        assertThat(users.find(42).block(Duration.ofSeconds(30)).name()).isEqualTo("Grace");
        dao.rows.put(42L, new User(42, "unseen"));
        assertThat(users.find(42).block(Duration.ofSeconds(30)).name()).isEqualTo("Grace");
        users.rename(new User(42, "Barbara")).join();
        assertThat(users.find(42).block(Duration.ofSeconds(30)).name()).isEqualTo("Barbara");
    }

    private static void byCode(EasyCache cache, Dao dao) {
        CacheSpec<User> users = CacheSpec.of("user", User.class);
        AsyncEasyCache async = cache.async();

        CompletableFuture<User> user = async.fetch(users.key(42), () -> dao.findLater(42));
        assertThat(user.join().name()).isEqualTo("Barbara");
        CompletableFuture<Map<Long, User>> found = async.fetchAll(users, List.of(1L, 2L), dao::findAllLater);
        assertThat(found.join()).isEmpty();
        CompletableFuture<User> renamed = async.update(List.of(users.key(42)), () -> dao.renameLater(42, "Ada"));
        assertThat(renamed.join().name()).isEqualTo("Ada");
        CompletableFuture<Void> done = async.invalidate(users.key(42));
        assertThat(done.join()).isNull();
        Mono<User> mono = Mono.fromFuture(() -> async.fetch(users.key(42), () -> dao.findLater(42)), true);
        assertThat(mono.block(Duration.ofSeconds(30)).name()).isEqualTo("Ada");
    }

    @Test
    void areThoseOfThePage() throws IOException {
        String source = dense(Files.readString(TESTS.resolve("AsyncExamplesTests.java"))
                + Files.readString(TESTS.resolve("R2dbcIntegrationTests.java")));
        String[] parts = Files.readString(PAGE).split("```", -1);
        List<String> lines = Stream.of(parts)
                .filter(part -> part.startsWith("java\n"))
                .flatMap(part -> part.substring(5).lines())
                .map(AsyncExamplesTests::dense)
                .toList();
        assertThat(lines).hasSizeGreaterThan(10).allMatch(source::contains);
    }

    private static String dense(String text) {
        return text.replaceAll("\\s", "");
    }
}
