package io.easykit.cache.springcache;

import io.easykit.cache.autoconfigure.EasyCacheAutoConfiguration;
import io.easykit.cache.autoconfigure.EasyCacheSpringCacheAutoConfiguration;
import io.easykit.test.MistakesTable;
import io.easykit.test.MistakesTable.Row;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Flux;

/** Checks each row about Spring's annotations in the documented table of mistakes. */
class SpringMistakesTests {

    private static final Map<String, Class<?>> BEANS = Map.of(
            "a second type in one cache", TwoTypes.class,
            "a read that is an update", ReadAndUpdate.class,
            "a method without one value", ManyValues.class,
            "an update of a cache that nobody reads", UpdatesNothing.class,
            "a key of a strong cache over the result", StrongByResult.class,
            "a key of a serial cache over the result", SerialByResult.class,
            "a key over the result before the method", EarlyByResult.class,
            "a name that is the position of another parameter", PositionAsName.class,
            "a reload in the background", Background.class);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    DataRedisAutoConfiguration.class,
                    EasyCacheAutoConfiguration.class,
                    EasyCacheSpringCacheAutoConfiguration.class))
            .withUserConfiguration(Caching.class)
            .withPropertyValues(
                    "spring.data.redis.port=1",
                    "easy-cache.spring-cache.enabled=true",
                    "easy-cache.caches.strong.consistency=cp",
                    "easy-cache.caches.serial.serial=true",
                    "easy-cache.caches.behind.reload=background");

    @Configuration(proxyBeanMethods = false)
    @EnableCaching
    static class Caching {}

    record User(long id, String name) {}

    static class TwoTypes {
        @Cacheable("types")
        public User find(long id) {
            return new User(id, "");
        }

        @Cacheable("types")
        public String name(long id) {
            return "";
        }
    }

    static class ReadAndUpdate {
        @Cacheable("both")
        @CacheEvict("other")
        public User find(long id) {
            return new User(id, "");
        }

        @Cacheable("other")
        public User other(long id) {
            return new User(id, "");
        }
    }

    static class ManyValues {
        @Cacheable("many")
        public Flux<User> find(long id) {
            return Flux.empty();
        }
    }

    static class UpdatesNothing {
        @CacheEvict("nobody")
        public void update(long id) {}
    }

    static class StrongByResult {
        @Cacheable("strong")
        public User find(long id) {
            return new User(id, "");
        }

        @CachePut(cacheNames = "strong", key = "#result.id")
        public User create(String name) {
            return new User(1, name);
        }
    }

    static class SerialByResult {
        @Cacheable("serial")
        public User find(long id) {
            return new User(id, "");
        }

        @CachePut(cacheNames = "serial", key = "#result.id")
        public User create(String name) {
            return new User(1, name);
        }
    }

    static class EarlyByResult {
        @Cacheable("early")
        public User find(long id) {
            return new User(id, "");
        }

        @CacheEvict(cacheNames = "early", key = "#result.id", beforeInvocation = true)
        public User change(String name) {
            return new User(1, name);
        }
    }

    static class PositionAsName {
        @Cacheable(cacheNames = "distance", key = "{#p1, #p2}")
        public User between(User p1, User p2) {
            return p1;
        }
    }

    static class Background {
        @Cacheable("behind")
        public User find(long id) {
            return new User(id, "");
        }
    }

    @TestFactory
    Stream<DynamicTest> reportsAWrongDeclaration() {
        return rows().stream().map(row -> DynamicTest.dynamicTest(row.what(), () -> assertReported(List.of(row))));
    }

    @Test
    void reportsAllWrongDeclarationsInOneStart() {
        assertReported(rows());
    }

    private static List<Row> rows() {
        return MistakesTable.rows("easy-cache: Spring's annotations");
    }

    private void assertReported(List<Row> rows) {
        ApplicationContextRunner mistaken = runner;
        for (Row row : rows) {
            mistaken = mistaken.withBean(row.what(), Objects.requireNonNull(BEANS.get(row.what()), row.what()));
        }
        mistaken.run(context -> MistakesTable.assertReported(context.getStartupFailure(), rows));
    }
}
