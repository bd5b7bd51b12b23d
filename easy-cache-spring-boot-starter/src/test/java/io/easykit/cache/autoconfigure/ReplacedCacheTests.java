package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

import io.easykit.cache.EasyCache;
import io.easykit.cache.actuate.EasyCacheEndpoint;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.bean.override.convention.TestBean;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import reactor.core.publisher.Mono;

/** Tests of an application that replace the cache. */
class ReplacedCacheTests {

    @Nested
    @TestPropertySource(properties = "easy-cache.require-redis-at-start=true")
    class ByAMock extends Base {

        @MockitoBean
        EasyCache cache;

        @Autowired
        Books books;

        @Autowired
        ApplicationContext context;

        @Test
        void startsAndCallsIt() throws Throwable {
            assertThat(books.title(1)).isNull();
            assertThat(books.calls()).isZero();
            verify(cache).fetch(any(), any());
            books.rename(1);
            assertThat(books.renames()).isZero();
            assertThat(books.titleLater(1).join()).isNull();
            verify(cache, times(2)).fetch(any(), any());
            assertThat(books.renameReactively(1).block()).isNull();
            assertThat(books.renames()).isZero();

            assertThat(context.getBeanProvider(EasyCacheAdmin.class).getIfAvailable())
                    .isNull();
            assertThat(context.getBean(EasyCacheLifecycle.class).isRunning()).isTrue();
            assertThat(context.getBean(HealthIndicator.class).health()).isNotNull();
            assertThat(context.getBean(EasyCacheEndpoint.class)).isNotNull();
        }
    }

    @Nested
    class ByAMockOfTheAdminToo extends Base {

        @MockitoBean
        EasyCache cache;

        @MockitoBean
        EasyCacheAdmin admin;

        @Test
        void starts(@Autowired ApplicationContext context) {
            assertThat(context.getBean(EasyCacheAdmin.class)).isSameAs(admin);
        }
    }

    @Nested
    class ByAnotherEngine extends Base {

        @TestBean
        EasyCache cache;

        @Autowired
        Books books;

        static EasyCache cache() {
            return EasyCacheEngine.builder(new JacksonValueCodec()).disabled().build();
        }

        @Test
        void startsAndCallsIt() {
            assertThat(books.title(1)).isEqualTo("title 1");
            assertThat(books.title(1)).isEqualTo("title 2");
            assertThat(books.titleLater(1).join()).isEqualTo("title 3");
            assertThat(books.renameReactively(1).block()).isEqualTo(1);
        }
    }

    @SpringBootTest(classes = Application.class, webEnvironment = WebEnvironment.NONE)
    @TestPropertySource(properties = {"spring.data.redis.port=1", "management.endpoints.web.exposure.include=*"})
    abstract static class Base {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        TransactionAutoConfiguration.class,
        DataRedisAutoConfiguration.class,
        EndpointAutoConfiguration.class,
        EasyCacheAutoConfiguration.class,
        EasyCacheAdminAutoConfiguration.class,
        EasyCacheEndpointAutoConfiguration.class,
        EasyCacheHealthAutoConfiguration.class,
        EasyCacheMetricsAutoConfiguration.class
    })
    static class Application {

        @Bean
        Books books() {
            return new Books();
        }
    }

    static class Books {

        private final AtomicInteger calls = new AtomicInteger();
        private final AtomicInteger renames = new AtomicInteger();

        public int calls() {
            return calls.get();
        }

        public int renames() {
            return renames.get();
        }

        @Cacheable(prefix = "title", keys = "#id")
        public String title(int id) {
            return "title " + calls.incrementAndGet();
        }

        @Cacheable(prefix = "title", keys = "#id")
        public CompletableFuture<String> titleLater(int id) {
            return CompletableFuture.completedFuture("title " + calls.incrementAndGet());
        }

        @UpdateCache(prefix = "title", keys = "#id")
        public void rename(int id) {
            renames.incrementAndGet();
        }

        @UpdateCache(prefix = "title", keys = "#id")
        public Mono<Integer> renameReactively(int id) {
            return Mono.fromCallable(renames::incrementAndGet);
        }
    }
}
