package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RedisServer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Rows whose id is null until the method stores them, as with {@code @GeneratedValue}. */
class NewRowsIntegrationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class, DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
            .withPropertyValues("spring.data.redis.url=" + RedisServer.shared().uri(), "easy-cache.command-timeout=5s")
            .withBean(Cities.class);

    @BeforeEach
    void flush() {
        RedisServer.shared().flush();
    }

    static final class City {

        private @Nullable Long id;
        private final String name;

        City(@Nullable Long id, String name) {
            this.id = id;
            this.name = name;
        }

        public @Nullable Long getId() {
            return id;
        }

        /** A part of a key that cannot be computed any more when the row has its id. */
        public long getFaulty() {
            if (id != null) {
                throw new StackOverflowError("no key");
            }
            return -1;
        }
    }

    static class Cities {

        private final Map<Long, String> rows = new ConcurrentHashMap<>();
        private final AtomicLong ids = new AtomicLong();

        @Cacheable(prefix = "city", keys = "#id")
        public Optional<String> find(long id) {
            return Optional.ofNullable(rows.get(id));
        }

        @UpdateCache(prefix = "city", keys = "#city.id")
        public void save(City city) {
            store(city);
        }

        @UpdateCache(prefix = "city", keys = "#city.id")
        public CompletableFuture<Void> saveLater(City city) {
            store(city);
            return CompletableFuture.completedFuture(null);
        }

        @UpdateCache(prefix = "city", keys = "#cities.![id]", batch = true)
        public void saveAll(List<City> cities) {
            cities.forEach(this::store);
        }

        /** Nobody learns the id. */
        @UpdateCache(prefix = "city", keys = "#city.id")
        public void insert(City city) {
            rows.put(ids.incrementAndGet(), city.name);
        }

        @UpdateCache(prefix = "city", keys = "#city.faulty")
        @UpdateCache(prefix = "city", keys = "#city.id")
        public void saveWithAFaultyKey(City city, @Nullable RuntimeException failure) {
            store(city);
            if (failure != null) {
                throw failure;
            }
        }

        public int count() {
            return rows.size();
        }

        private void store(City city) {
            if (city.id == null) {
                city.id = ids.incrementAndGet();
            }
            rows.put(city.id, city.name);
        }
    }

    private void run(Consumer<Cities> test, String... settings) {
        runner.withPropertyValues(settings).run(context -> test.accept(context.getBean(Cities.class)));
    }

    /** The readers know of each id that it does not exist. */
    private void shouldSave(BiConsumer<Cities, City> save, String... settings) {
        run(
                cities -> {
                    assertThat(cities.find(1)).isEmpty();
                    save.accept(cities, new City(null, "Paris"));
                    assertThat(cities.find(1)).contains("Paris");
                    save.accept(cities, new City(1L, "Lutetia"));
                    assertThat(cities.find(1)).contains("Lutetia");
                },
                settings);
    }

    @ParameterizedTest
    @ValueSource(strings = {"AP", "CP"})
    void areFoundOnceTheyAreStored(String consistency) {
        String[] settings = {"easy-cache.defaults.consistency=" + consistency, "easy-cache.defaults.stale-window=0s"};

        shouldSave(Cities::save, settings);
        flush();
        shouldSave((cities, city) -> cities.saveLater(city).join(), settings);
        flush();
        shouldSave((cities, city) -> cities.saveAll(List.of(city, new City(null, "other"))), settings);
    }

    @Test
    void aKeyThatIsStillNullIsReportedAfterTheMethod() {
        run(cities -> {
            assertThatThrownBy(() -> cities.insert(new City(null, "Paris")))
                    .isInstanceOf(InvalidCacheKeyException.class)
                    .hasMessageContaining("is null");
            assertThat(cities.count()).isEqualTo(1);
        });
    }

    @Test
    void aKeyWhoseAccessorFailsKeepsNoOtherFromBeingInvalidated() {
        run(cities -> {
            assertThat(cities.find(1)).isEmpty();
            assertThatThrownBy(() -> cities.saveWithAFaultyKey(new City(null, "Paris"), null))
                    .isInstanceOf(StackOverflowError.class);
            assertThat(cities.find(1)).contains("Paris");

            RuntimeException afterCommit = new IllegalStateException("after the commit");
            assertThat(cities.find(2)).isEmpty();
            assertThatThrownBy(() -> cities.saveWithAFaultyKey(new City(null, "Rome"), afterCommit))
                    .isSameAs(afterCommit)
                    .hasSuppressedException(new StackOverflowError("no key"));
            assertThat(cities.find(2)).contains("Rome");
        });
    }

    /** It cannot take its turn without a key. */
    @Test
    void anUpdateOfASerialCacheIsRefusedBeforeTheMethod() {
        run(
                cities -> {
                    assertThatThrownBy(() -> cities.save(new City(null, "Paris")))
                            .isInstanceOf(InvalidCacheKeyException.class);
                    assertThat(cities.count()).isZero();
                },
                "easy-cache.caches.city.serial=true");
    }
}
