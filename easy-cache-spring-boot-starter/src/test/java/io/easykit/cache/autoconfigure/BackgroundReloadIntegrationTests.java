package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.Reload;
import io.easykit.cache.RunningLoad;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RedisServer;
import io.micrometer.context.ContextRegistry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.test.util.AopTestUtils;

/** A background load runs after its caller has continued: it must load the values the caller requested. */
class BackgroundReloadIntegrationTests {

    private static final ThreadLocal<String> TENANT = new ThreadLocal<>();
    private static final ThreadLocal<String> CONTEXT = new ThreadLocal<>();

    /** A mutable argument that callers reuse. */
    static final class Query {

        private volatile long id;

        public long getId() {
            return id;
        }

        Query id(long value) {
            id = value;
            return this;
        }
    }

    static class Tenants {

        public String current() {
            return String.valueOf(TENANT.get());
        }
    }

    static class Rows {

        final List<String> threads = new CopyOnWriteArrayList<>();
        final List<List<Long>> batches = new CopyOnWriteArrayList<>();
        volatile CountDownLatch gate = new CountDownLatch(0);
        volatile String version = "old";

        private String row(Object id) {
            threads.add(Thread.currentThread().getName());
            try {
                gate.await();
            } catch (InterruptedException stop) {
                throw new AssertionError(stop);
            }
            return version + " " + id;
        }

        @Cacheable(prefix = "query", keys = "#query.id", staleWindow = "1m")
        public String byQuery(Query query) {
            row("");
            return version + " " + query.getId();
        }

        @Cacheable(prefix = "list", keys = "#ids", staleWindow = "1m")
        public String byList(List<Long> ids) {
            row("");
            return version + " " + ids;
        }

        @Cacheable(prefix = "array", keys = "#ids[0]", staleWindow = "1m")
        public String byArray(long... ids) {
            row("");
            return version + " " + Arrays.toString(ids);
        }

        @Cacheable(
                prefix = "tenant",
                keys = {"@tenants.current()", "#id"},
                staleWindow = "1m")
        public String ofTenant(long id) {
            return row(TENANT.get() + id);
        }

        @Cacheable(prefix = "caller", keys = "#id", staleWindow = "1m", reload = Reload.CALLER)
        public String onCaller(long id) {
            return row(TENANT.get() + id);
        }

        @Cacheable(prefix = "context", keys = "#id", staleWindow = "1m")
        public String inContext(long id) {
            return row(CONTEXT.get());
        }

        @Cacheable(prefix = "batch", keys = "#ids", staleWindow = "1m", batch = true)
        public Map<Long, String> byIds(List<Long> ids) {
            batches.add(List.copyOf(ids));
            row("");
            return ids.stream().collect(Collectors.toMap(id -> id, id -> version + " " + id));
        }

        @Cacheable(prefix = "batch", keys = "#ids", staleWindow = "1m", batch = true)
        public Map<Long, String> byIdsAndQuery(List<Long> ids, Query query) {
            return byIds(ids);
        }

        @UpdateCache(prefix = "query", keys = "#id")
        @UpdateCache(prefix = "list", keys = "{#id}")
        @UpdateCache(prefix = "array", keys = "#id")
        @UpdateCache(
                prefix = "tenant",
                keys = {"'a'", "#id"})
        @UpdateCache(prefix = "caller", keys = "#id")
        @UpdateCache(prefix = "context", keys = "#id")
        @UpdateCache(prefix = "batch", keys = "#id")
        public void update(long id) {}
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        DataRedisAutoConfiguration.class,
        EasyCacheAutoConfiguration.class,
        TaskExecutionAutoConfiguration.class
    })
    static class Application {

        @Bean
        Rows rows() {
            return new Rows();
        }

        @Bean
        Tenants tenants() {
            return new Tenants();
        }

        @Bean
        @Order(2)
        TaskDecorator outerMost() {
            return renaming("outer");
        }

        @Bean
        @Order(1)
        TaskDecorator innerMost() {
            return renaming("inner");
        }

        /** Sets its name as that of the thread. */
        private static TaskDecorator renaming(String name) {
            return task -> () -> {
                Thread thread = Thread.currentThread();
                thread.setName(thread.getName() + " " + name);
                task.run();
            };
        }
    }

    private static ConfigurableApplicationContext here;
    private static ConfigurableApplicationContext elsewhere;

    private final Rows rows = here.getBean(Rows.class);
    private final Rows target = AopTestUtils.getTargetObject(rows);

    @BeforeAll
    static void start() {
        ContextRegistry.getInstance().registerThreadLocalAccessor("test", CONTEXT);
        here = application();
        elsewhere = application();
    }

    @AfterAll
    static void stop() {
        ContextRegistry.getInstance().removeThreadLocalAccessor("test");
        here.close();
        elsewhere.close();
    }

    private static ConfigurableApplicationContext application() {
        RedisServer redis = RedisServer.shared();
        return new SpringApplicationBuilder(Application.class)
                .properties(
                        "spring.data.redis.host=" + redis.host(),
                        "spring.data.redis.port=" + redis.port(),
                        "easy-cache.command-timeout=10s",
                        "spring.task.execution.pool.core-size=1")
                .run();
    }

    @BeforeEach
    void reset() {
        RedisServer.shared().flush();
        target.threads.clear();
        target.batches.clear();
        target.version = "old";
        target.gate = new CountDownLatch(0);
    }

    @AfterEach
    void clear() {
        TENANT.remove();
        CONTEXT.remove();
    }

    /** Another node updates while a background load waits at the gate. */
    private void updateElsewhere(long id) {
        elsewhere.getBean(Rows.class).update(id);
        target.version = "new";
    }

    @Test
    void neverLoadsForAnArgumentThatWasReused() {
        Query query = new Query();
        assertThat(rows.byQuery(query.id(901))).isEqualTo("old 901");
        updateElsewhere(901);

        assertThat(rows.byQuery(query.id(901))).isEqualTo("new 901");
        assertThat(target.threads)
                .containsExactly(
                        Thread.currentThread().getName(), Thread.currentThread().getName());
        query.id(902);
        assertThat(elsewhere.getBean(Rows.class).byQuery(new Query().id(901))).isEqualTo("new 901");
    }

    @Test
    void copiesAListAndAnArray() {
        List<Long> ids = new ArrayList<>(List.of(1L));
        long[] array = {1};
        rows.byList(ids);
        rows.byArray(array);
        updateElsewhere(1);
        target.gate = new CountDownLatch(1);

        assertThat(rows.byList(ids)).isEqualTo("old [1]");
        assertThat(rows.byArray(array)).isEqualTo("old [1]");
        ids.set(0, 2L);
        array[0] = 2;
        target.gate.countDown();
        await().until(() -> rows.byList(List.of(1L)), "new [1]"::equals);
        await().until(() -> rows.byArray(1), "new [1]"::equals);
        assertThat(target.threads)
                .hasSize(4)
                .filteredOn(name -> name.startsWith("easy-cache-refresh-"))
                .hasSize(2);
    }

    @Test
    void reloadsTheElementsOfABatchThatAreDue() {
        List<Long> ids = new ArrayList<>(List.of(1L, 2L, 3L));
        Map<Long, String> old = rows.byIds(ids);
        updateElsewhere(2);

        assertThat(rows.byIds(ids)).isEqualTo(old);
        ids.clear();
        await().until(() -> rows.byIds(List.of(2L)), Map.of(2L, "new 2")::equals);
        assertThat(target.batches).containsExactly(List.of(1L, 2L, 3L), List.of(2L));
        assertThat(target.threads.get(1)).startsWith("easy-cache-refresh-");
    }

    @Test
    void reloadsABatchOnTheCallersThreadIfAnArgumentMayChange() {
        Query query = new Query();
        rows.byIdsAndQuery(List.of(1L, 2L), query);
        updateElsewhere(2);
        assertThat(rows.byIdsAndQuery(List.of(1L, 2L), query)).isEqualTo(Map.of(1L, "old 1", 2L, "new 2"));
        assertThat(target.batches).containsExactly(List.of(1L, 2L), List.of(2L));
        assertThat(target.threads).containsOnly(Thread.currentThread().getName());
    }

    @Test
    void reloadsOnTheCallersThreadWhereTheKeyDependsOnIt() {
        TENANT.set("a");
        assertThat(rows.ofTenant(1)).isEqualTo("old a1");
        updateElsewhere(1);
        assertThat(rows.ofTenant(1)).isEqualTo("old a1");
        await().pollInSameThread().until(() -> rows.ofTenant(1), "new a1"::equals);
        assertThat(target.threads).containsOnly(Thread.currentThread().getName());
        TENANT.remove();
        assertThat(rows.ofTenant(1)).isEqualTo("new null1");
        TENANT.set("a");
        assertThat(elsewhere.getBean(Rows.class).ofTenant(1)).isEqualTo("new a1");
    }

    @Test
    void reloadsOnTheCallersThreadIfThatIsChosen() {
        TENANT.set("a");
        assertThat(rows.onCaller(1)).isEqualTo("old a1");
        updateElsewhere(1);
        assertThat(rows.onCaller(1)).isEqualTo("new a1");
        assertThat(target.threads).containsOnly(Thread.currentThread().getName());
    }

    @Test
    void hasTheCallersContextAndAllDecoratorsInTheirOrder() {
        CONTEXT.set("mine");
        assertThat(rows.inContext(1)).isEqualTo("old mine");
        updateElsewhere(1);
        assertThat(rows.inContext(1)).isEqualTo("old mine");
        await().pollInSameThread().until(() -> rows.inContext(1), "new mine"::equals);
        assertThat(target.threads.get(1)).startsWith("easy-cache-refresh-").endsWith(" outer inner");
    }

    @Test
    void countsTasksOfBootsExecutorAsPartOfTheLoad() throws Exception {
        EasyCache cache = here.getBean(EasyCache.class);
        AsyncTaskExecutor executor = here.getBean("applicationTaskExecutor", AsyncTaskExecutor.class);
        Callable<Boolean> isInLoad = () -> RunningLoad.current() != null;
        assertThat(executor.submit(isInLoad).get()).isFalse();
        CacheKey<Boolean> key = CacheSpec.of("inside", Boolean.class).key(1);
        assertThat(cache.fetch(key, () -> executor.submit(isInLoad).get())).isTrue();
        assertThat(executor.submit(isInLoad).get()).isFalse();
    }
}
