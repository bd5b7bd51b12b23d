package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.util.AopTestUtils;
import reactor.core.publisher.Mono;

/**
 * Arguments that are others after the call: a caller has the future or publisher and changes what it has passed, or the method sets
 * the id of its argument.
 */
class ChangedArgumentsIntegrationTests {

    /** Cannot be copied. */
    static class Query {

        private volatile long id;

        Query(long id) {
            this.id = id;
        }

        public long getId() {
            return id;
        }
    }

    /** A row with a primitive id, which is 0 before it is stored. */
    static class Row {

        private volatile long id;
        private final String name;

        Row(long id, String name) {
            this.id = id;
            this.name = name;
        }

        public long getId() {
            return id;
        }
    }

    static class Texts {

        final Map<Long, String> rows = new ConcurrentHashMap<>();
        final AtomicInteger loads = new AtomicInteger();
        volatile CountDownLatch entered = new CountDownLatch(1);
        volatile CountDownLatch mayRead = new CountDownLatch(0);

        @Cacheable(prefix = "list", keys = "#ids")
        public CompletableFuture<String> ofList(List<Long> ids) {
            return CompletableFuture.completedFuture(read(ids));
        }

        @Cacheable(prefix = "list", keys = "#ids")
        public Mono<String> ofListReactively(List<Long> ids) {
            return Mono.just(read(ids));
        }

        @org.springframework.cache.annotation.Cacheable("spring-list")
        public CompletableFuture<String> ofListBySpring(List<Long> ids) {
            return CompletableFuture.completedFuture(read(ids));
        }

        @Cacheable(prefix = "query", keys = "#query.id")
        public CompletableFuture<String> ofQuery(Query query) {
            return CompletableFuture.completedFuture(read(query));
        }

        @Cacheable(prefix = "query", keys = "#query.id")
        public Mono<String> ofQueryReactively(Query query) {
            return Mono.just(read(query));
        }

        @org.springframework.cache.annotation.Cacheable(cacheNames = "spring-query", key = "#query.id")
        public CompletableFuture<String> ofQueryBySpring(Query query) {
            return CompletableFuture.completedFuture(read(query));
        }

        @org.springframework.cache.annotation.Cacheable(
                cacheNames = {"spring-query", "other-query"},
                key = "#query.id")
        public CompletableFuture<String> ofQueryInTwoCaches(Query query) {
            return CompletableFuture.completedFuture(read(query));
        }

        @Cacheable(prefix = "row", keys = "#id", staleWindow = "0s")
        public @Nullable String name(long id) {
            return rows.get(id);
        }

        @UpdateCache(prefix = "row", keys = "#row.id")
        public void save(Row row, long id, boolean fails) {
            row.id = id;
            rows.put(id, row.name);
            if (fails) {
                throw new IllegalStateException("after the change");
            }
        }

        @UpdateCache(prefix = "row", keys = "#some.![id]", batch = true)
        public void saveAll(List<Row> some, long id) {
            some.forEach(row -> save(row, id, false));
        }

        @UpdateCache(prefix = "row", keys = "#row.id")
        public CompletableFuture<Void> saveLater(Row row) {
            pause();
            rows.put(row.id, row.name);
            return CompletableFuture.completedFuture(null);
        }

        private String read(List<Long> ids) {
            pause();
            String read = ids.toString();
            ids.sort(null);
            return read;
        }

        private String read(Query query) {
            pause();
            return "text " + query.id;
        }

        private void pause() {
            loads.incrementAndGet();
            entered.countDown();
            await(mayRead);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCacheAndDatabase
    @EnableCaching
    static class Application {

        @Bean
        Texts texts() {
            return new Texts();
        }
    }

    enum ReadOfList {
        FUTURE {
            @Override
            CompletableFuture<String> read(Texts texts, List<Long> ids) {
                return texts.ofList(ids);
            }
        },
        MONO {
            @Override
            CompletableFuture<String> read(Texts texts, List<Long> ids) {
                return texts.ofListReactively(ids).toFuture();
            }
        },
        BY_SPRING {
            @Override
            CompletableFuture<String> read(Texts texts, List<Long> ids) {
                return texts.ofListBySpring(ids);
            }
        };

        abstract CompletableFuture<String> read(Texts texts, List<Long> ids);
    }

    enum ReadOfQuery {
        FUTURE {
            @Override
            CompletableFuture<String> read(Texts texts, Query query) {
                return texts.ofQuery(query);
            }
        },
        MONO {
            @Override
            CompletableFuture<String> read(Texts texts, Query query) {
                return texts.ofQueryReactively(query).toFuture();
            }
        },
        BY_SPRING {
            @Override
            CompletableFuture<String> read(Texts texts, Query query) {
                return texts.ofQueryBySpring(query);
            }
        },
        IN_TWO_CACHES {
            @Override
            CompletableFuture<String> read(Texts texts, Query query) {
                return texts.ofQueryInTwoCaches(query);
            }
        };

        abstract CompletableFuture<String> read(Texts texts, Query query);
    }

    private static final AtomicInteger IDS = new AtomicInteger();
    private static ConfigurableApplicationContext context;

    private final long id = IDS.addAndGet(10);
    private final Texts texts = context.getBean(Texts.class);
    private final Texts target = AopTestUtils.getTargetObject(texts);

    @BeforeAll
    static void start() {
        RedisServer redis = RedisServer.shared();
        redis.flush();
        context = new SpringApplicationBuilder(Application.class)
                .properties(
                        "spring.data.redis.host=" + redis.host(),
                        "spring.data.redis.port=" + redis.port(),
                        "easy-cache.command-timeout=20s",
                        "easy-cache.spring-cache.enabled=true",
                        "spring.main.web-application-type=none")
                .run();
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @BeforeEach
    void reset() {
        target.loads.set(0);
        target.entered = new CountDownLatch(1);
        target.mayRead = new CountDownLatch(0);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    private static <T> T result(CompletableFuture<T> future) throws Exception {
        return future.get(30, TimeUnit.SECONDS);
    }

    /** Changes the argument while the method waits, before it has read it. */
    private void changeInside(Runnable change) {
        await(target.entered);
        change.run();
        target.mayRead.countDown();
    }

    @ParameterizedTest
    @EnumSource
    void theMethodGetsACopyOfAList(ReadOfList style) throws Exception {
        target.mayRead = new CountDownLatch(1);
        String expected = List.of(id, 2L).toString();
        List<Long> ids = new ArrayList<>(List.of(id, 2L));

        CompletableFuture<String> first = style.read(texts, ids);
        changeInside(ids::clear);

        assertThat(result(first)).isEqualTo(expected);
        assertThat(result(style.read(texts, new ArrayList<>(List.of(id, 2L))))).isEqualTo(expected);
        assertThat(target.loads).hasValue(1);
    }

    @Test
    void aMonoThatIsSubscribedAgainReadsTheListOfItsCall() {
        Mono<String> read = texts.ofListReactively(new ArrayList<>(List.of(id, 2L)));

        assertThat(read.block()).isEqualTo(read.block());
        assertThat(target.loads).hasValue(1);
    }

    @ParameterizedTest
    @EnumSource
    void aValueIsKeptFromOthersIfItsKeyHasChanged(ReadOfQuery style) throws Exception {
        target.mayRead = new CountDownLatch(1);
        Query query = new Query(id);

        CompletableFuture<String> first = style.read(texts, query);
        await(target.entered);
        CompletableFuture<String> joined = style.read(texts, new Query(id));
        changeInside(() -> query.id = id + 1);

        assertThat(result(first)).isEqualTo("text " + (id + 1));
        assertThat(result(joined)).isEqualTo("text " + id);
        assertThat(result(style.read(texts, new Query(id)))).isEqualTo("text " + id);
    }

    @Test
    void anIdThatTheMethodSetsIsInvalidated() {
        assertThat(texts.name(id)).isNull();

        texts.save(new Row(0, "new"), id, false);

        assertThat(texts.name(id)).isEqualTo("new");
    }

    @Test
    void anIdThatAFailedMethodHasSetIsInvalidated() {
        assertThat(texts.name(id)).isNull();

        assertThatThrownBy(() -> texts.save(new Row(0, "new"), id, true)).hasMessage("after the change");

        assertThat(texts.name(id)).isEqualTo("new");
    }

    @Test
    void idsThatTheMethodSetsAreInvalidated() {
        assertThat(texts.name(id)).isNull();

        texts.saveAll(List.of(new Row(0, "new")), id);

        assertThat(texts.name(id)).isEqualTo("new");
    }

    @Test
    void bothKeysOfAnArgumentThatItsCallerChangesAreInvalidated() throws Exception {
        target.rows.put(id, "old");
        assertThat(texts.name(id)).isEqualTo("old");
        assertThat(texts.name(id + 1)).isNull();
        target.mayRead = new CountDownLatch(1);
        Row row = new Row(id, "new");

        CompletableFuture<Void> update = texts.saveLater(row);
        target.rows.remove(id);
        changeInside(() -> row.id = id + 1);
        result(update);

        assertThat(texts.name(id)).isNull();
        assertThat(texts.name(id + 1)).isEqualTo("new");
    }
}
