package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Lookup;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.FilterType;
import org.springframework.context.annotation.Import;
import org.springframework.data.annotation.Id;
import org.springframework.data.domain.Page;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.domain.Pageable;
import org.springframework.data.keyvalue.core.KeyValueOperations;
import org.springframework.data.keyvalue.repository.KeyValueRepository;
import org.springframework.data.map.repository.config.EnableMapRepositories;
import org.springframework.data.repository.NoRepositoryBean;

/** Annotations on repositories, on interfaces that only proxies implement, and on generic base classes. */
@ExtendWith(OutputCaptureExtension.class)
class InheritedMethodsIntegrationTests {

    record City(@Id Long id, String name) {}

    record Country(@Id String id, List<City> cities) {}

    @NoRepositoryBean
    interface CachedRepository<T, K> extends KeyValueRepository<T, K> {

        @Override
        @Cacheable(prefix = "{class}", keys = "#id")
        Optional<T> findById(K id);

        @Override
        @UpdateCache(prefix = "{class}", keys = "#entity.id")
        <S extends T> S save(S entity);
    }

    interface CityRepository extends CachedRepository<City, Long> {

        @Cacheable(
                prefix = "cities",
                keys = {"#name", "#page"})
        Page<City> findByName(String name, Pageable page);
    }

    interface CountryRepository extends CachedRepository<Country, String> {}

    /** Implemented by a proxy only, like clients and mappers. */
    interface Weather {

        @Cacheable(prefix = "weather", keys = "#city.id")
        Map<String, Integer> of(City city);
    }

    abstract static class BaseService<T, K> {

        final Map<K, T> rows = new ConcurrentHashMap<>();
        final AtomicInteger loads = new AtomicInteger();

        @Cacheable(prefix = "{class}.one", keys = "#id")
        public T find(K id) {
            loads.incrementAndGet();
            return rows.get(id);
        }

        @Cacheable(prefix = "{class}.all", keys = "#ids")
        public Map<K, List<T>> findAll(List<K> ids) {
            loads.incrementAndGet();
            return Map.of(ids.get(0), List.copyOf(rows.values()));
        }

        @UpdateCache(prefix = "{class}.one", keys = "#id")
        public void put(K id, T value) {
            rows.put(id, value);
        }
    }

    static class CityService extends BaseService<City, Long> {

        /** Spring makes a subclass of this class, and its proxy a subclass of that. */
        @Lookup
        public @Nullable Weather weather() {
            return null;
        }
    }

    static class CountryService extends BaseService<Country, String> {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        DataRedisAutoConfiguration.class,
        EasyCacheAutoConfiguration.class
    })
    @Import({CityService.class, CountryService.class})
    @EnableMapRepositories(
            considerNestedRepositories = true,
            includeFilters = @ComponentScan.Filter(type = FilterType.ASSIGNABLE_TYPE, classes = CachedRepository.class))
    static class Application {

        @Bean
        AtomicInteger weatherCalls() {
            return new AtomicInteger();
        }

        @Bean
        Weather weather(AtomicInteger weatherCalls) {
            return (Weather) Proxy.newProxyInstance(
                    Weather.class.getClassLoader(),
                    new Class<?>[] {Weather.class},
                    (proxy, method, args) -> method.getName().equals("of")
                            ? Map.of("call", weatherCalls.incrementAndGet())
                            : method.getName().equals("hashCode")
                                    ? 1
                                    : method.getName().equals("equals") && proxy == args[0]);
        }
    }

    private static ConfigurableApplicationContext context;
    private static String start;

    private final CityRepository cities = context.getBean(CityRepository.class);
    private final CountryRepository countries = context.getBean(CountryRepository.class);
    private final KeyValueOperations database = context.getBean(KeyValueOperations.class);

    @BeforeAll
    static void start(CapturedOutput output) {
        RedisServer redis = RedisServer.shared();
        context = new SpringApplicationBuilder(Application.class)
                .properties("spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port())
                .properties("easy-cache.command-timeout=10s", "easy-cache.defaults.consistency=CP")
                .run();
        start = output.toString();
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @BeforeEach
    void flush() {
        RedisServer.shared().flush();
    }

    @Test
    void cachesWhatARepositoryDeclares() {
        cities.save(new City(1L, "Bonn"));
        assertThat(cities.findById(1L)).contains(new City(1L, "Bonn"));
        database.update(1L, new City(1L, "changed"));
        assertThat(cities.findById(1L)).contains(new City(1L, "Bonn"));
        cities.save(new City(1L, "Berlin"));
        assertThat(cities.findById(1L)).contains(new City(1L, "Berlin"));
        assertThat(keys()).contains("ec:cityRepository::1");
    }

    @Test
    void resolvesTypesAgainstEachRepository() {
        Country country = new Country("de", List.of(new City(1L, "Bonn")));
        countries.save(country);
        countries.findById("de");
        assertThat(countries.findById("de")).contains(country);
        assertThat(keys()).containsExactly("ec:countryRepository::de");
        assertThat(start)
                .contains("CityRepository.findById(Object) -> ec:cityRepository::{#id}")
                .contains("CountryRepository.findById(Object) -> ec:countryRepository::{#id}");
    }

    @Test
    void cachesPagesOfARepository() {
        cities.save(new City(7L, "Ulm"));
        Page<City> page = cities.findByName("Ulm", PageRequest.of(0, 1));
        database.delete(7L, City.class);
        assertThat(cities.findByName("Ulm", PageRequest.of(0, 1)))
                .isEqualTo(page)
                .hasSize(1);
        assertThat(cities.findByName("Ulm", PageRequest.of(1, 1))).isEmpty();
    }

    @Test
    void cachesWhatOnlyAProxyImplements() {
        Weather weather = context.getBean(Weather.class);
        assertThat(weather.of(new City(1L, "Bonn"))).isEqualTo(weather.of(new City(1L, "other")));
        assertThat(weather.of(new City(2L, "Bonn"))).isNotEqualTo(weather.of(new City(1L, "Bonn")));
        assertThat(context.getBean(AtomicInteger.class)).hasValue(2);
    }

    @Test
    void resolvesTypesAgainstEachSubclassOfAGenericBase() {
        CityService service = context.getBean(CityService.class);
        CountryService other = context.getBean(CountryService.class);
        Country country = new Country("de", List.of());
        service.put(1L, new City(1L, "Bonn"));
        other.put("de", country);
        for (int i = 0; i < 2; i++) {
            assertThat(service.find(1L)).isEqualTo(new City(1L, "Bonn"));
            assertThat(other.find("de")).isEqualTo(country);
            assertThat(service.findAll(List.of(1L))).isEqualTo(Map.of(1L, List.of(new City(1L, "Bonn"))));
            assertThat(other.findAll(List.of("de"))).isEqualTo(Map.of("de", List.of(country)));
        }
        assertThat(service.weather()).isSameAs(context.getBean(Weather.class));
        assertThat(keys())
                .containsExactlyInAnyOrder(
                        "ec:cityService.one::1",
                        "ec:cityService.all::[1,]",
                        "ec:countryService.one::de",
                        "ec:countryService.all::[de,]");
        service.put(1L, new City(1L, "Berlin"));
        assertThat(service.find(1L)).isEqualTo(new City(1L, "Berlin"));
    }

    private static List<String> keys() {
        try (RawRedis redis = RedisServer.shared().connect()) {
            return ((List<?>) redis.command("KEYS", "*::*"))
                    .stream()
                            .map(key -> new String((byte[]) key, StandardCharsets.UTF_8))
                            .toList();
        }
    }
}
