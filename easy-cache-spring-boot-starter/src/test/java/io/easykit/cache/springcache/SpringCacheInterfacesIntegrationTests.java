package io.easykit.cache.springcache;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.EasyCache;
import io.easykit.cache.autoconfigure.EnableCacheAndDatabase;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.data.annotation.Id;
import org.springframework.data.keyvalue.repository.KeyValueRepository;
import org.springframework.data.map.repository.config.EnableMapRepositories;
import reactor.core.publisher.Mono;

/** Annotations on repositories and interfaces, in an application whose caches stand outside of nearly all other advice. */
class SpringCacheInterfacesIntegrationTests {

    record City(@Id Long id, String name) {}

    interface CityRepository extends KeyValueRepository<City, Long> {

        @Override
        @Cacheable("city")
        Optional<City> findById(Long id);

        @Override
        @CacheEvict(cacheNames = "city", key = "#entity.id")
        <S extends City> S save(S entity);
    }

    /** A bean with this interface gets a proxy of the interface only, unless Boot's default applies. */
    interface Weather {

        @Cacheable("weather")
        Integer in(City city);
    }

    static final class Station implements Weather {

        private final AtomicInteger calls = new AtomicInteger();

        @Override
        public Integer in(City city) {
            return calls.incrementAndGet();
        }
    }

    /** Its methods return {@code Object} for the proxy. */
    interface Finder<T> {

        T find(Long id);

        T change(Long id);
    }

    static final class Later implements Finder<CompletableFuture<City>> {

        private final AtomicInteger calls = new AtomicInteger();

        @Override
        @Cacheable("later")
        public CompletableFuture<City> find(Long id) {
            return CompletableFuture.completedFuture(new City(id, "Rome " + calls.incrementAndGet()));
        }

        @Override
        @CacheEvict("later")
        public CompletableFuture<City> change(Long id) {
            return CompletableFuture.completedFuture(
                    new City(id, Thread.currentThread().getName()));
        }
    }

    static final class Reactive implements Finder<Mono<City>> {

        private final AtomicInteger calls = new AtomicInteger();

        @Override
        @Cacheable("reactive")
        public Mono<City> find(Long id) {
            return Mono.fromCallable(() -> new City(id, "Rome " + calls.incrementAndGet()));
        }

        @Override
        @CacheEvict("reactive")
        public Mono<City> change(Long id) {
            return Mono.just(new City(id, Thread.currentThread().getName()));
        }
    }

    static final class Maybe implements Finder<Optional<City>> {

        private final AtomicInteger calls = new AtomicInteger();

        @Override
        @Cacheable("maybe")
        public Optional<City> find(Long id) {
            return calls.incrementAndGet() > 1 ? Optional.of(new City(id, "Rome")) : Optional.empty();
        }

        @Override
        @CacheEvict("maybe")
        public Optional<City> change(Long id) {
            return Optional.empty();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCacheAndDatabase
    @EnableCaching(order = Ordered.HIGHEST_PRECEDENCE + 10)
    @EnableMapRepositories(considerNestedRepositories = true)
    static class Application {

        @Bean
        Weather weather() {
            return new Station();
        }

        @Bean
        Finder<CompletableFuture<City>> later() {
            return new Later();
        }

        @Bean
        Finder<Mono<City>> reactive() {
            return new Reactive();
        }

        @Bean
        Finder<Optional<City>> maybe() {
            return new Maybe();
        }
    }

    private static final Duration WAIT = Duration.ofSeconds(30);
    private static ConfigurableApplicationContext context;

    @BeforeAll
    static void start() {
        RedisServer redis = RedisServer.shared();
        redis.flush();
        context = new SpringApplicationBuilder(Application.class)
                .properties(
                        "spring.data.redis.host=" + redis.host(),
                        "spring.data.redis.port=" + redis.port(),
                        "spring.data.redis.repositories.enabled=false",
                        "spring.aop.proxy-target-class=false",
                        "easy-cache.spring-cache.enabled=true",
                        "easy-cache.command-timeout=10s",
                        "spring.main.web-application-type=none")
                .run();
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @Test
    void cachesAndInvalidatesARepository() {
        CityRepository cities = context.getBean(CityRepository.class);
        cities.save(new City(1L, "Rome"));
        assertThat(cities.findById(1L)).contains(new City(1L, "Rome"));
        cities.deleteById(1L);
        assertThat(cities.findById(1L)).as("a hit").contains(new City(1L, "Rome"));

        cities.save(new City(1L, "Roma"));

        assertThat(cities.findById(1L)).contains(new City(1L, "Roma"));
        assertThat(cities.findById(2L)).isEmpty();
    }

    @Test
    void cachesAnInterface() {
        Weather weather = context.getBean(Weather.class);
        City city = new City(7L, "Oslo");

        assertThat(weather.in(city)).isEqualTo(1);
        assertThat(weather.in(new City(7L, "Oslo"))).isEqualTo(1);
        assertThat(weather.in(new City(8L, "Oslo"))).isEqualTo(2);
        assertThat(context.getBean(EasyCache.class).undelivered("default")).isZero();
    }

    @SuppressWarnings("unchecked") // the type of the bean
    private static <T> Finder<T> finder(String name) {
        return (Finder<T>) context.getBean(name, Finder.class);
    }

    @Test
    void cachesFuturesOfATypeVariable() {
        Finder<CompletableFuture<City>> finder = finder("later");

        assertThat(finder.find(1L).join()).isEqualTo(new City(1L, "Rome 1"));
        assertThat(finder.find(1L).join()).isEqualTo(new City(1L, "Rome 1"));
        assertThat(finder.change(1L).join().name()).startsWith("easy-cache-call-");
        assertThat(finder.find(1L).join()).isEqualTo(new City(1L, "Rome 2"));
    }

    @Test
    void cachesPublishersOfATypeVariable() {
        Finder<Mono<City>> finder = finder("reactive");

        assertThat(finder.find(1L).block(WAIT)).isEqualTo(new City(1L, "Rome 1"));
        assertThat(finder.find(1L).block(WAIT)).isEqualTo(new City(1L, "Rome 1"));
        assertThat(finder.change(1L).block(WAIT).name()).startsWith("easy-cache-call-");
        assertThat(finder.find(1L).block(WAIT)).isEqualTo(new City(1L, "Rome 2"));
    }

    @Test
    void cachesOptionalsOfATypeVariable() {
        Finder<Optional<City>> finder = finder("maybe");

        assertThat(finder.find(1L)).isEmpty();
        assertThat(finder.find(1L)).isEmpty();
        finder.change(1L);
        assertThat(finder.find(1L)).contains(new City(1L, "Rome"));
        assertThat(finder.find(1L)).contains(new City(1L, "Rome"));
    }
}
