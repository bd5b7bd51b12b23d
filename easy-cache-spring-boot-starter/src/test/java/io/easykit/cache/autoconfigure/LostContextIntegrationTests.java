package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.TaskDecorator;
import org.springframework.test.util.AopTestUtils;
import reactor.core.publisher.Mono;

/** A context that throws on the other thread, as a map of a log that is null there, ends what waits for the task. */
class LostContextIntegrationTests {

    /** How many runs have their context before it is lost. */
    private static final AtomicInteger RUNS_LEFT = new AtomicInteger(Integer.MAX_VALUE);

    static class Rows {

        final AtomicInteger loads = new AtomicInteger();
        volatile String version = "old";

        private String row() {
            loads.incrementAndGet();
            return version;
        }

        @Cacheable(prefix = "later", keys = "#id")
        public CompletableFuture<String> later(long id) {
            return CompletableFuture.completedFuture(row());
        }

        @Cacheable(prefix = "mono", keys = "#id")
        public Mono<String> mono(long id) {
            return Mono.fromSupplier(this::row);
        }

        @UpdateCache(prefix = "later", keys = "#id")
        public CompletableFuture<String> updateLater(long id) {
            return CompletableFuture.completedFuture(row());
        }

        @Cacheable(prefix = "window", keys = "#id", staleWindow = "1m")
        public String inWindow(long id) {
            return row();
        }

        @UpdateCache(prefix = "window", keys = "#id")
        public void update(long id) {}

        @Cacheable(prefix = "batch", keys = "#ids", staleWindow = "1m", batch = true)
        public Map<Long, String> inBatch(List<Long> ids) {
            String row = row();
            return ids.stream().collect(Collectors.toMap(id -> id, id -> row));
        }

        @UpdateCache(prefix = "batch", keys = "#id")
        public void updateInBatch(long id) {}

        @Cacheable(
                prefix = "soft",
                keys = "#id",
                ttl = "10ms",
                staleWindow = "0s",
                staleOnError = "1h",
                loadSoftTimeout = "1m")
        public String soft(long id) {
            return row();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        DataRedisAutoConfiguration.class,
        EasyCacheAutoConfiguration.class
    })
    static class Application {

        @Bean
        Rows rows() {
            return new Rows();
        }

        @Bean
        TaskDecorator losing() {
            return task -> () -> {
                if (RUNS_LEFT.getAndDecrement() <= 0) {
                    throw new IllegalStateException("no context");
                }
                task.run();
            };
        }
    }

    private static ConfigurableApplicationContext application;
    private static ConfigurableApplicationContext elsewhere;

    private final Rows rows = application.getBean(Rows.class);
    private final Rows target = AopTestUtils.getTargetObject(rows);

    @BeforeAll
    static void start() {
        application = started();
        elsewhere = started();
    }

    private static ConfigurableApplicationContext started() {
        RedisServer redis = RedisServer.shared();
        return new SpringApplicationBuilder(Application.class)
                .properties(
                        "spring.data.redis.host=" + redis.host(),
                        "spring.data.redis.port=" + redis.port(),
                        "easy-cache.command-timeout=10s",
                        "easy-cache.defaults.load-lease=10m",
                        "easy-cache.defaults.load-wait-timeout=1m")
                .run();
    }

    @AfterAll
    static void stop() {
        application.close();
        elsewhere.close();
    }

    @BeforeEach
    void reset() {
        RedisServer.shared().flush();
        target.version = "old";
        target.loads.set(0);
    }

    @AfterEach
    void keepContexts() {
        RUNS_LEFT.set(Integer.MAX_VALUE);
    }

    private static void assertEndedWithoutContext(CompletableFuture<String> call) {
        Throwable failure = catchThrowable(() -> call.get(30, TimeUnit.SECONDS));
        assertThat(failure)
                .cause()
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("TaskDecorator")
                .hasRootCauseMessage("no context");
    }

    /** A miss has two steps and more: after each of them the next one is lost. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void endsARead(int runs) throws Exception {
        RUNS_LEFT.set(runs);
        assertEndedWithoutContext(rows.later(runs));
        RUNS_LEFT.set(runs);
        assertEndedWithoutContext(rows.mono(runs).toFuture());
    }

    @Test
    void endsAnUpdate() throws Exception {
        RUNS_LEFT.set(0);
        assertEndedWithoutContext(rows.updateLater(1));
        assertThat(target.loads).hasValue(0);
    }

    /** The lease of the reload is ten minutes. */
    @Test
    void leavesAReloadToTheNextReader() {
        rows.inWindow(1);
        elsewhere.getBean(Rows.class).update(1);
        target.version = "new";
        RUNS_LEFT.set(0);
        assertThat(rows.inWindow(1)).isEqualTo("old");
        await().until(() -> RUNS_LEFT.get() < 0);
        RUNS_LEFT.set(Integer.MAX_VALUE);
        await().until(() -> rows.inWindow(1), "new"::equals);
    }

    @Test
    void leavesAReloadOfABatchToTheNextReader() {
        List<Long> ids = List.of(1L, 2L);
        rows.inBatch(ids);
        elsewhere.getBean(Rows.class).updateInBatch(1);
        target.version = "new";
        RUNS_LEFT.set(0);
        assertThat(rows.inBatch(ids)).containsEntry(1L, "old");
        await().until(() -> RUNS_LEFT.get() < 0);
        RUNS_LEFT.set(Integer.MAX_VALUE);
        await().until(() -> rows.inBatch(ids).get(1L), "new"::equals);
    }

    /** The soft timeout is a minute. */
    @Test
    void loadsOnTheThreadOfTheReader() {
        assertThat(rows.soft(1)).isEqualTo("old");
        target.version = "new";
        RUNS_LEFT.set(0);
        await().pollInSameThread().atMost(Duration.ofSeconds(30)).until(() -> rows.soft(1), "new"::equals);
    }
}
