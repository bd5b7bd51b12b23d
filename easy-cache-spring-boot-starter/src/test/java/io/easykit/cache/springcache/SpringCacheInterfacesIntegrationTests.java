package io.easykit.cache.springcache;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.EasyCache;
import io.easykit.test.RedisServer;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
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

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
    @EnableCaching(order = Ordered.HIGHEST_PRECEDENCE + 10)
    @EnableMapRepositories(considerNestedRepositories = true)
    static class Application {

        @Bean
        Weather weather() {
            return new Station();
        }
    }

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
}
