package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Consistency;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RedisServer;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** The annotations on a service with a database. */
class AnnotatedShopIntegrationTests {

    record Product(Long id, String name) {}

    /** Relation between the method of an update and its transaction. */
    enum Transactionality {
        NONE,
        AROUND_METHOD
    }

    static class Products {

        private final JdbcClient jdbc;
        final AtomicInteger loads = new AtomicInteger();
        volatile Runnable afterLoad = () -> {};
        volatile Runnable beforeReturn = () -> {};

        Products(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @Cacheable(prefix = "product", keys = "#id", consistency = Consistency.CP)
        public Product strong(long id) {
            return load(id).orElse(null);
        }

        @Cacheable(prefix = "view", keys = "#id", staleWindow = "200ms")
        public Optional<Product> eventual(long id) {
            return load(id);
        }

        @UpdateCache(prefix = "product", keys = "#product.id")
        @UpdateCache(prefix = "view", keys = "#product.id()")
        public Product save(Product product) {
            return write(product);
        }

        @UpdateCache(prefix = "product", keys = "#product.id")
        @UpdateCache(prefix = "view", keys = "#product.id()")
        @Transactional
        public Product saveInTransaction(Product product) {
            return write(product);
        }

        @UpdateCache(prefix = "product", keys = "#result.id")
        @Transactional
        public Product insert(String name) {
            long id = jdbc.sql("select coalesce(max(id), 0) + 1 from product")
                    .query(Long.class)
                    .single();
            jdbc.sql("insert into product values (?, ?)").params(id, name).update();
            return new Product(id, name);
        }

        private Optional<Product> load(long id) {
            loads.incrementAndGet();
            Optional<Product> found = jdbc.sql("select id, name from product where id = ?")
                    .param(id)
                    .query(Product.class)
                    .optional();
            afterLoad.run();
            return found;
        }

        private Product write(Product product) {
            jdbc.sql("update product set name = ? where id = ?")
                    .params(product.name(), product.id())
                    .update();
            beforeReturn.run();
            return product;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Shop {

        @Bean
        Products products(JdbcClient jdbc) {
            return new Products(jdbc);
        }
    }

    private static ConfigurableApplicationContext context;
    private static ExecutorService readers;

    private final Products products = context.getBean(Products.class);
    private final JdbcClient jdbc = context.getBean(JdbcClient.class);
    private final TransactionTemplate transaction = context.getBean(TransactionTemplate.class);

    @BeforeAll
    static void start() {
        RedisServer redis = RedisServer.shared();
        readers = Executors.newCachedThreadPool();
        context = new SpringApplicationBuilder(Shop.class)
                .properties(
                        "spring.data.redis.host=" + redis.host(),
                        "spring.data.redis.port=" + redis.port(),
                        "spring.datasource.url=jdbc:h2:mem:annotated-shop",
                        "spring.datasource.hikari.maximum-pool-size=20",
                        "easy-cache.command-timeout=10s",
                        "spring.main.web-application-type=none")
                .run();
    }

    @AfterAll
    static void stop() {
        readers.shutdownNow();
        context.close();
    }

    @BeforeEach
    void reset() {
        RedisServer.shared().flush();
        jdbc.sql("drop table if exists product").update();
        jdbc.sql("create table product (id bigint primary key, name varchar(99))")
                .update();
        jdbc.sql("insert into product values (1, 'old')").update();
        hooks(() -> {}, () -> {});
        loads().set(0);
    }

    @Test
    void loadsOnceThenHits() {
        for (int i = 0; i < 3; i++) {
            assertThat(products.strong(1)).isEqualTo(new Product(1L, "old"));
            assertThat(products.eventual(1)).contains(new Product(1L, "old"));
        }
        assertThat(loads()).hasValue(2);
    }

    @Test
    void cachesThatThereIsNothing() {
        for (int i = 0; i < 3; i++) {
            assertThat(products.strong(9)).isNull();
            assertThat(products.eventual(9)).isEmpty();
        }
        assertThat(loads()).hasValue(2);
    }

    @ParameterizedTest
    @EnumSource
    void showsAnUpdateToStrongReadersAtOnce(Transactionality transactionality) {
        products.strong(1);
        update(transactionality, new Product(1L, "new"));
        assertThat(products.strong(1).name()).isEqualTo("new");
        assertThat(loads()).hasValue(2);
    }

    @ParameterizedTest
    @EnumSource
    void showsAnUpdateToEventualReadersInsideTheWindow(Transactionality transactionality) {
        products.eventual(1);
        update(transactionality, new Product(1L, "new"));
        await().until(() -> products.eventual(1).orElseThrow().name(), "new"::equals);
        assertThat(loads()).hasValue(2);
    }

    /** The reader loads the old value, the update commits and invalidates, the reader comes back and stores. */
    @ParameterizedTest
    @EnumSource
    void neverKeepsWhatWasLoadedBeforeAnUpdate(Transactionality transactionality) throws Exception {
        CountDownLatch loaded = new CountDownLatch(2);
        CountDownLatch updated = new CountDownLatch(1);
        hooks(
                () -> {
                    loaded.countDown();
                    awaitLatch(updated);
                },
                () -> {});
        Future<Product> slow = readers.submit(() -> products.strong(1));
        Future<Optional<Product>> slowView = readers.submit(() -> products.eventual(1));
        awaitLatch(loaded);
        hooks(() -> {}, () -> {});
        update(transactionality, new Product(1L, "new"));
        updated.countDown();
        slow.get(10, TimeUnit.SECONDS);
        slowView.get(10, TimeUnit.SECONDS);
        assertThat(products.strong(1).name()).isEqualTo("new");
        assertThat(products.eventual(1).orElseThrow().name()).isEqualTo("new");
    }

    @Test
    void clearsCachedNothingByTheIdThatAnInsertGives() {
        assertThat(products.strong(2)).isNull();
        assertThat(products.insert("created")).isEqualTo(new Product(2L, "created"));
        assertThat(products.strong(2)).isEqualTo(new Product(2L, "created"));
    }

    @Test
    void readsItsOwnUpdateInATransaction() {
        products.strong(1);
        transaction.executeWithoutResult(status -> {
            products.save(new Product(1L, "new"));
            assertThat(products.strong(1).name()).isEqualTo("new");
        });
        assertThat(products.strong(1).name()).isEqualTo("new");
    }

    @Test
    void showsNobodyWhatWasRolledBack() throws Exception {
        products.strong(1);
        transaction.executeWithoutResult(status -> {
            products.save(new Product(1L, "never"));
            assertThat(products.strong(1).name()).isEqualTo("never");
            assertThat(products.eventual(1).orElseThrow().name()).isEqualTo("never");
            assertThat(inAnotherThread(() -> products.strong(1).name())).isEqualTo("old");
            status.setRollbackOnly();
        });
        assertThat(products.strong(1).name()).isEqualTo("old");
        assertThat(products.eventual(1).orElseThrow().name()).isEqualTo("old");
    }

    /** As a precaution. No other test rolls back this key: a second rollback within a second would be invalidated later. */
    @Test
    void loadsAgainWhatARolledBackMethodWasToUpdate() {
        jdbc.sql("insert into product values (2, 'old')").update();
        products.strong(2);
        hooks(() -> {}, () -> {
            throw new IllegalStateException("no");
        });
        assertThatThrownBy(() -> products.saveInTransaction(new Product(2L, "never")))
                .isInstanceOf(IllegalStateException.class);
        assertThat(products.strong(2).name()).isEqualTo("old");
        assertThat(loads()).hasValue(2);
    }

    private void update(Transactionality transactionality, Product product) {
        if (transactionality == Transactionality.NONE) {
            products.save(product);
        } else {
            products.saveInTransaction(product);
        }
    }

    private AtomicInteger loads() {
        return target().loads;
    }

    private void hooks(Runnable afterLoad, Runnable beforeReturn) {
        target().afterLoad = afterLoad;
        target().beforeReturn = beforeReturn;
    }

    private Products target() {
        return AopTestUtils.getTargetObject(products);
    }

    private static <T> T inAnotherThread(Callable<T> call) {
        try {
            return readers.submit(call).get(10, TimeUnit.SECONDS);
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException stop) {
            throw new AssertionError(stop);
        }
    }
}
