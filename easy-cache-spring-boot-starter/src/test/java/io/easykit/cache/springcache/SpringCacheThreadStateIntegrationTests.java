package io.easykit.cache.springcache;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability;
import io.easykit.cache.Availability.State;
import io.easykit.cache.EasyCache;
import io.easykit.cache.InvalidCacheCallException;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.autoconfigure.EnableCacheAndDatabase;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.task.TaskDecorator;
import org.springframework.test.util.AopTestUtils;
import reactor.core.publisher.Mono;

/** Keys over state that is bound to the thread of the caller, while the methods run on threads of the cache. */
class SpringCacheThreadStateIntegrationTests {

    /** The tenant of a thread, as an application without context propagation holds it. */
    static class Tenant {

        private final ThreadLocal<String> present = ThreadLocal.withInitial(() -> "default");

        public String id() {
            return present.get();
        }

        void enter(String id) {
            present.set(id);
        }

        void leave() {
            present.remove();
        }
    }

    static class Texts {

        private final Tenant tenant;
        final List<String> calls = new CopyOnWriteArrayList<>();

        Texts(Tenant tenant) {
            this.tenant = tenant;
        }

        @Cacheable(cacheNames = "text", key = "@tenant.id() + ':' + #id")
        public CompletableFuture<String> later(long id) {
            return CompletableFuture.completedFuture(load("read", id));
        }

        @Cacheable(cacheNames = "text", key = "@tenant.id() + ':' + #id")
        public Mono<String> reactively(long id) {
            return Mono.just(load("read", id));
        }

        @CacheEvict(cacheNames = "text", key = "@tenant.id() + ':' + #id")
        public CompletableFuture<String> update(long id) {
            return CompletableFuture.completedFuture(load("update", id));
        }

        @CacheEvict(cacheNames = "text", key = "@tenant.id() + ':' + #id")
        public Mono<String> updateReactively(long id) {
            return Mono.just(load("update", id));
        }

        /** Its key changes if the list changes. */
        @Cacheable(cacheNames = "list", key = "#ids.toString()")
        public CompletableFuture<String> ofAll(List<Long> ids) {
            calls.add("read");
            ids.sort(null);
            return CompletableFuture.completedFuture(ids.toString());
        }

        @Cacheable(cacheNames = "list", key = "#ids.toString()")
        public Mono<String> ofAllReactively(List<Long> ids) {
            calls.add("read");
            ids.sort(null);
            return Mono.just(ids.toString());
        }

        /** Changes its key. */
        @Cacheable(cacheNames = "next", key = "#from.get()")
        public Mono<String> next(AtomicReference<String> from) {
            calls.add("read");
            return Mono.just(from.updateAndGet(text -> text + "!"));
        }

        /** Sets its key, and fails once after it. */
        @CachePut(cacheNames = "list", key = "#key.get()")
        public Mono<String> save(AtomicReference<String> key) {
            calls.add("update");
            return key.getAndSet("[1, 2]") == null
                    ? Mono.error(new IllegalStateException("the first time"))
                    : Mono.just("saved");
        }

        @Cacheable(cacheNames = "strong", key = "#ids.toString()")
        public String strong(List<Long> ids) {
            return ids.toString();
        }

        /** Changes its key, which a CP cache refuses after the method. */
        @CacheEvict(cacheNames = "strong", key = "#ids.toString()")
        public Mono<String> sortStrong(List<Long> ids) {
            calls.add("update");
            ids.sort(null);
            return Mono.just(ids.toString());
        }

        /** Loses its key, and fails after it. */
        @CacheEvict(cacheNames = "strong", key = "#key.get()")
        public Mono<String> loseKey(AtomicReference<String> key) {
            calls.add("update");
            key.set(null);
            return Mono.error(new IllegalStateException("the first time"));
        }

        private String load(String kind, long id) {
            calls.add(kind);
            return tenant.id() + id;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCacheAndDatabase
    @EnableCaching
    static class Application {

        @Bean
        Tenant tenant() {
            return new Tenant();
        }

        @Bean
        Texts texts(Tenant tenant) {
            return new Texts(tenant);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Propagating extends Application {

        @Bean
        TaskDecorator propagation(Tenant tenant) {
            return task -> {
                String id = tenant.id();
                return () -> {
                    tenant.enter(id);
                    try {
                        task.run();
                    } finally {
                        tenant.leave();
                    }
                };
            };
        }
    }

    private static ConfigurableApplicationContext plain;
    private static ConfigurableApplicationContext propagating;

    private final Texts texts = plain.getBean(Texts.class);
    private final List<String> calls = AopTestUtils.<Texts>getTargetObject(texts).calls;

    @BeforeAll
    static void start() {
        plain = SpringShop.start(Application.class);
        propagating = SpringShop.start(Propagating.class);
    }

    @AfterAll
    static void stop() {
        plain.close();
        propagating.close();
    }

    @BeforeEach
    void enterTenant() {
        RedisServer.shared().flush();
        plain.getBean(Tenant.class).enter("a");
        propagating.getBean(Tenant.class).enter("a");
        AopTestUtils.<Texts>getTargetObject(propagating.getBean(Texts.class))
                .calls
                .clear();
    }

    @AfterEach
    void leaveTenant() {
        plain.getBean(Tenant.class).leave();
        propagating.getBean(Tenant.class).leave();
    }

    private void refuses(ThrowingCallable call) {
        int before = calls.size();
        assertThat(NestedExceptionUtils.getMostSpecificCause(catchThrowable(call)))
                .isInstanceOf(InvalidCacheCallException.class)
                .hasMessageContaining("The method has not run")
                .hasMessageContaining("TaskDecorator");
        assertThat(calls).hasSize(before);
    }

    private static List<String> keys(String pattern) {
        try (RawRedis raw = RedisServer.shared().connect()) {
            return ((List<?>) raw.command("KEYS", pattern))
                    .stream()
                            .map(key -> key instanceof byte[] bytes ? new String(bytes, UTF_8) : String.valueOf(key))
                            .toList();
        }
    }

    @Test
    void aReadOfAnotherTenantIsRefused() {
        refuses(() -> texts.later(1).join());
        refuses(() -> texts.reactively(1).block(Duration.ofSeconds(30)));

        assertThat(keys("ec:text::*")).isEmpty();
    }

    /** Runs a check while the node has no Redis. */
    private static void inAnOutage(Runnable check) {
        Availability redis =
                Objects.requireNonNull(plain.getBean(EasyCache.class).availability("default"));
        redis.force(State.UNAVAILABLE);
        try {
            check.run();
        } finally {
            redis.reset();
            await().atMost(Duration.ofSeconds(30)).until(() -> redis.state() == State.AVAILABLE);
        }
    }

    @Test
    void aReadOfAnotherTenantIsRefusedInAnOutageToo() {
        inAnOutage(() -> {
            refuses(() -> texts.later(1).join());
            refuses(() -> texts.reactively(1).block(Duration.ofSeconds(30)));
        });
    }

    @Test
    void aReadThatIsSubscribedAgainInAnOutageWithAnotherKeyRunsWithoutTheCache() {
        int before = calls.size();
        inAnOutage(() -> {
            Mono<String> read = texts.next(new AtomicReference<>("outage"));

            assertThat(read.block(Duration.ofSeconds(30))).isEqualTo("outage!");
            assertThat(read.block(Duration.ofSeconds(30))).isEqualTo("outage!!");
        });
        assertThat(calls).hasSize(before + 2);
    }

    @Test
    void anUpdateOfAnotherTenantIsRefused() {
        refuses(() -> texts.update(1).join());
        refuses(() -> texts.updateReactively(1).block(Duration.ofSeconds(30)));
    }

    @Test
    void stateThatIsPropagatedIsUsed() {
        Texts here = propagating.getBean(Texts.class);

        assertThat(here.later(1).join()).isEqualTo("a1");
        assertThat(here.reactively(1).block(Duration.ofSeconds(30))).isEqualTo("a1");
        assertThat(here.update(1).join()).isEqualTo("a1");
        assertThat(here.later(1).join()).isEqualTo("a1");

        assertThat(AopTestUtils.<Texts>getTargetObject(here).calls).containsExactly("read", "update", "read");
    }

    /** As by a retry whose timer thread has no tenant. The arguments cannot have changed. */
    @Test
    void aReadAndAnUpdateThatAreSubscribedAgainWithAnotherTenantAreRefused() {
        Texts here = propagating.getBean(Texts.class);
        List<String> run = AopTestUtils.<Texts>getTargetObject(here).calls;
        Mono<String> read = here.reactively(7);
        Mono<String> update = here.updateReactively(7);
        assertThat(read.block(Duration.ofSeconds(30))).isEqualTo("a7");
        assertThat(update.block(Duration.ofSeconds(30))).isEqualTo("a7");

        propagating.getBean(Tenant.class).leave();

        refuses(() -> read.block(Duration.ofSeconds(30)));
        refuses(() -> update.block(Duration.ofSeconds(30)));
        assertThat(run).containsExactly("read", "update");
    }

    @Test
    void aMethodMayChangeItsArguments() {
        int before = calls.size();

        assertThat(texts.ofAll(new ArrayList<>(List.of(2L, 1L))).join()).isEqualTo("[1, 2]");
        assertThat(texts.ofAll(new ArrayList<>(List.of(2L, 1L))).join()).isEqualTo("[1, 2]");

        assertThat(calls).hasSize(before + 1);
    }

    /** The first subscription has changed the argument, which cannot be copied. */
    @Test
    void aReadThatIsSubscribedAgainWithAnotherKeyRunsWithoutTheCache() {
        int before = calls.size();
        Mono<String> read = texts.next(new AtomicReference<>("a"));

        assertThat(read.block(Duration.ofSeconds(30))).isEqualTo("a!");
        assertThat(read.block(Duration.ofSeconds(30))).isEqualTo("a!!");

        assertThat(calls).hasSize(before + 2);
        assertThat(texts.next(new AtomicReference<>("a")).block(Duration.ofSeconds(30)))
                .isEqualTo("a!");
    }

    @Test
    void aReadThatIsSubscribedAgainHasItsArgumentsAsTheyWere() {
        int before = calls.size();
        Mono<String> read = texts.ofAllReactively(new ArrayList<>(List.of(2L, 1L)));

        assertThat(read.block(Duration.ofSeconds(30))).isEqualTo("[1, 2]");
        assertThat(read.block(Duration.ofSeconds(30))).isEqualTo("[1, 2]");

        assertThat(calls).hasSize(before + 1);
    }

    @Test
    void anUpdateThatSetsItsKeyCanBeRepeated() {
        int before = calls.size();
        assertThat(texts.ofAll(new ArrayList<>(List.of(1L, 2L))).join()).isEqualTo("[1, 2]");

        assertThat(texts.save(new AtomicReference<>()).retry(1).block(Duration.ofSeconds(30)))
                .isEqualTo("saved");
        assertThat(texts.ofAll(new ArrayList<>(List.of(1L, 2L))).join()).isEqualTo("[1, 2]");

        assertThat(calls.subList(before, calls.size())).containsExactly("read", "update", "update", "read");
    }

    @Test
    void aRepeatedUpdateIsPreparedForItsPresentKey() {
        int before = calls.size();
        Mono<String> update = texts.sortStrong(new ArrayList<>(List.of(2L, 1L)));

        assertThatThrownBy(() -> update.block(Duration.ofSeconds(30)))
                .isInstanceOf(InvalidCacheCallException.class)
                .hasMessageContaining("was not prepared");
        assertThat(update.block(Duration.ofSeconds(30))).isEqualTo("[1, 2]");

        assertThat(calls).hasSize(before + 2);
    }

    @Test
    void aRepeatedUpdateWithoutAKeyIsRefused() {
        int before = calls.size();

        assertThatThrownBy(() ->
                        texts.loseKey(new AtomicReference<>("[1, 2]")).retry(1).block(Duration.ofSeconds(30)))
                .isInstanceOf(InvalidCacheCallException.class)
                .hasMessageContaining("has no key before it runs");

        assertThat(calls).hasSize(before + 1);
    }

    /** The caller gets the exception of the method, with the one about the key. */
    @Test
    void anUpdateThatFailsWithoutItsKeyReportsBoth() {
        Throwable failure = catchThrowable(
                () -> texts.loseKey(new AtomicReference<>("[1, 2]")).block(Duration.ofSeconds(30)));

        assertThat(failure).isInstanceOf(IllegalStateException.class).hasMessage("the first time");
        assertThat(failure.getSuppressed()).hasAtLeastOneElementOfType(InvalidCacheKeyException.class);
    }

    @Test
    void aRefusedSubscriptionIsRefusedAgain() {
        int before = calls.size();

        assertThatThrownBy(() -> texts.reactively(1).retry(1).block(Duration.ofSeconds(30)))
                .isInstanceOf(InvalidCacheCallException.class);
        assertThatThrownBy(() -> texts.updateReactively(1).retry(1).block(Duration.ofSeconds(30)))
                .isInstanceOf(InvalidCacheCallException.class);

        assertThat(calls).hasSize(before);
    }
}
