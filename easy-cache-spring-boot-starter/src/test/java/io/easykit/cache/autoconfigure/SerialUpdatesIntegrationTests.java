package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.Availability;
import io.easykit.cache.CacheOrderTimeoutException;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.EasyCache;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RedisServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Methods of a serial cache, with the example of {@code docs/easy-cache/order.md}. */
class SerialUpdatesIntegrationTests {

    static class Stocks {

        private final JdbcClient jdbc;
        private final CountDownLatch go = new CountDownLatch(1);
        private final CountDownLatch entered = new CountDownLatch(1);

        Stocks(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @Cacheable(prefix = "stock", keys = "#sku")
        public Integer pieces(String sku) {
            return jdbc.sql("select pieces from stock where sku = ?")
                    .param(sku)
                    .query(Integer.class)
                    .single();
        }

        /** Never below zero: reads and changes of one article run one after the other. */
        @UpdateCache(prefix = "stock", keys = "#sku")
        public boolean take(String sku, int quantity) {
            int left = pieces(sku) - quantity;
            return left >= 0
                    && jdbc.sql("update stock set pieces = ? where sku = ?")
                                    .params(left, sku)
                                    .update()
                            == 1;
        }

        /** The transaction of the method begins when its turn has come. */
        @UpdateCache(prefix = "stock", keys = "#sku")
        @Transactional
        public boolean takeTransactional(String sku, int quantity) {
            return take(sku, quantity);
        }

        @UpdateCache(prefix = "stock", keys = "#sku")
        public void fail(String sku, Exception failure) throws Exception {
            assertThat(TransactionSynchronizationManager.isActualTransactionActive())
                    .isTrue();
            take(sku, 1);
            throw failure;
        }

        @UpdateCache(prefix = "stock", keys = "#sku")
        public boolean undeclared(String sku) {
            return TransactionSynchronizationManager.isActualTransactionActive();
        }

        @UpdateCache(prefix = "stock", keys = "#sku")
        @Transactional
        public boolean required(String sku) {
            return undeclared(sku);
        }

        @UpdateCache(prefix = "stock", keys = "#sku")
        @Transactional(propagation = Propagation.SUPPORTS)
        public boolean supports(String sku) {
            return undeclared(sku);
        }

        @UpdateCache(prefix = "stock", keys = "#sku")
        @Transactional(propagation = Propagation.MANDATORY)
        public boolean mandatory(String sku) {
            return undeclared(sku);
        }

        @UpdateCache(prefix = "stock", keys = "#sku")
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public boolean requiresNew(String sku) {
            return undeclared(sku);
        }

        @UpdateCache(prefix = "stock", keys = "#sku")
        @Transactional(propagation = Propagation.NOT_SUPPORTED)
        public boolean notSupported(String sku) {
            return undeclared(sku);
        }

        @UpdateCache(prefix = "stock", keys = "#sku")
        @Transactional(propagation = Propagation.NEVER)
        public boolean never(String sku) {
            return undeclared(sku);
        }

        @UpdateCache(prefix = "stock", keys = "#sku")
        @Transactional(propagation = Propagation.NESTED)
        public boolean nested(String sku) {
            return undeclared(sku);
        }

        @UpdateCache(prefix = "stock", keys = "#sku")
        public void hold(String sku) throws InterruptedException {
            entered.countDown();
            assertThat(go.await(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCacheAndDatabase
    static class Shop {

        @Bean
        Stocks stocks(JdbcClient jdbc) {
            return new Stocks(jdbc);
        }

        @Bean
        MeterRegistry registry() {
            return new SimpleMeterRegistry();
        }
    }

    /** Begin a transaction if there is none. */
    private static final Set<Propagation> BEGINNING =
            EnumSet.of(Propagation.REQUIRED, Propagation.REQUIRES_NEW, Propagation.NESTED);

    private static ConfigurableApplicationContext context;

    private final Stocks stocks = context.getBean(Stocks.class);
    private final JdbcClient jdbc = context.getBean(JdbcClient.class);
    private final MeterRegistry registry = context.getBean(MeterRegistry.class);

    @BeforeAll
    static void start() {
        RedisServer redis = RedisServer.shared();
        context = new SpringApplicationBuilder(Shop.class)
                .properties(
                        "spring.data.redis.host=" + redis.host(),
                        "spring.data.redis.port=" + redis.port(),
                        "spring.datasource.url=jdbc:h2:mem:serial-updates",
                        "easy-cache.command-timeout=10s",
                        "easy-cache.caches.stock.consistency=cp",
                        "easy-cache.caches.stock.serial=true",
                        "easy-cache.caches.stock.serial-wait=10s",
                        "spring.main.web-application-type=none")
                .run();
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @BeforeEach
    void fill() {
        RedisServer.shared().flush();
        jdbc.sql("drop table if exists stock").update();
        jdbc.sql("create table stock (sku varchar(20) primary key, pieces int)").update();
        jdbc.sql("insert into stock values ('tea', 100), ('cup', 1)").update();
    }

    private int row(String sku) {
        return jdbc.sql("select pieces from stock where sku = ?")
                .param(sku)
                .query(Integer.class)
                .single();
    }

    private static List<Boolean> all(int calls, Callable<Boolean> call) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(20);
        try {
            List<Boolean> results = new ArrayList<>();
            for (Future<Boolean> one : threads.invokeAll(Collections.nCopies(calls, call), 60, TimeUnit.SECONDS)) {
                results.add(one.get());
            }
            return results;
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void takeNoMoreThanThereIs() throws Exception {
        List<Boolean> taken = all(150, () -> stocks.take("tea", 1));
        assertThat(taken.stream().filter(ok -> ok)).hasSize(100);
        assertThat(row("tea")).isZero();
        assertThat(stocks.pieces("tea")).isZero();
    }

    /** Two transactions at the same time would both read the same number of pieces. */
    @Test
    void takeNoMoreThanThereIsInTransactionsOfTheirOwn() throws Exception {
        List<Boolean> taken = all(150, () -> stocks.takeTransactional("tea", 1));
        assertThat(taken.stream().filter(ok -> ok)).hasSize(100);
        assertThat(row("tea")).isZero();
        assertThat(stocks.pieces("tea")).isZero();
    }

    @Test
    void rollBackUncheckedExceptionsAndErrorsOnly() {
        IllegalStateException unchecked = new IllegalStateException("unchecked");
        assertThatThrownBy(() -> stocks.fail("tea", unchecked)).isSameAs(unchecked);
        assertThat(row("tea")).isEqualTo(100);

        IOException checked = new IOException("checked");
        assertThatThrownBy(() -> stocks.fail("tea", checked)).isSameAs(checked);
        assertThat(row("tea")).isEqualTo(99);
        assertThat(stocks.pieces("tea")).isEqualTo(99);
    }

    @Test
    void haveATransactionIfTheyDeclareNone() {
        assertThat(stocks.undeclared("tea")).isTrue();
    }

    /** The declaration of the method decides. */
    @ParameterizedTest
    @EnumSource(Propagation.class)
    void haveTheTransactionThatTheyDeclare(Propagation propagation) {
        if (propagation == Propagation.MANDATORY) {
            assertThatThrownBy(() -> isInTransaction(propagation)).isInstanceOf(IllegalTransactionStateException.class);
        } else {
            assertThat(isInTransaction(propagation)).isEqualTo(BEGINNING.contains(propagation));
        }
    }

    private boolean isInTransaction(Propagation propagation) {
        return switch (propagation) {
            case REQUIRED -> stocks.required("tea");
            case SUPPORTS -> stocks.supports("tea");
            case MANDATORY -> stocks.mandatory("tea");
            case REQUIRES_NEW -> stocks.requiresNew("tea");
            case NOT_SUPPORTED -> stocks.notSupported("tea");
            case NEVER -> stocks.never("tea");
            case NESTED -> stocks.nested("tea");
        };
    }

    @Test
    void changeNothingIfRedisCannotBePrepared() {
        Availability redis =
                Objects.requireNonNull(context.getBean(EasyCache.class).availability("default"));
        redis.force(Availability.State.UNAVAILABLE);
        try {
            assertThatThrownBy(() -> stocks.take("tea", 1)).isInstanceOf(CacheUnavailableException.class);
            assertThatThrownBy(() -> stocks.takeTransactional("tea", 1)).isInstanceOf(CacheUnavailableException.class);
        } finally {
            redis.force(Availability.State.AVAILABLE);
            redis.reset();
        }
        assertThat(row("tea")).isEqualTo(100);
    }

    @Test
    void doNotWaitInsideATransactionThatWasActiveBefore() throws Exception {
        ExecutorService other = Executors.newSingleThreadExecutor();
        Stocks target = AopTestUtils.getTargetObject(stocks);
        try {
            Future<?> holder = other.submit(() -> {
                stocks.hold("cup");
                return null;
            });
            assertThat(target.entered.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(stocks.take("tea", 1)).isTrue();
            new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
                    .executeWithoutResult(
                            status -> assertThat(stocks.take("cup", 1)).isTrue());
            target.go.countDown();
            holder.get(10, TimeUnit.SECONDS);
        } finally {
            other.shutdownNow();
        }
        Awaitility.await().untilAsserted(() -> assertThat(registry.get("easycache.turns")
                        .tags("prefix", "stock", "result", "own")
                        .timer()
                        .count())
                .isPositive());
    }

    @Test
    void failIfTheirTurnDoesNotCome() {
        try (ConfigurableApplicationContext hasty = new SpringApplicationBuilder(Shop.class)
                .properties(
                        "spring.data.redis.host=" + RedisServer.shared().host(),
                        "spring.data.redis.port=" + RedisServer.shared().port(),
                        "spring.datasource.url=jdbc:h2:mem:serial-updates",
                        "easy-cache.caches.stock.serial=true",
                        "easy-cache.caches.stock.serial-wait=20ms",
                        "spring.main.web-application-type=none")
                .run()) {
            Stocks proxy = hasty.getBean(Stocks.class);
            Stocks target = AopTestUtils.getTargetObject(proxy);
            ExecutorService other = Executors.newSingleThreadExecutor();
            try {
                Future<?> holder = other.submit(() -> {
                    proxy.hold("cup");
                    return null;
                });
                assertThat(target.entered.await(10, TimeUnit.SECONDS)).isTrue();
                assertThatThrownBy(() -> proxy.take("cup", 1))
                        .isInstanceOf(CacheOrderTimeoutException.class)
                        .hasMessageContaining("serial-wait (20ms)");
                target.go.countDown();
                holder.get(10, TimeUnit.SECONDS);
            } catch (Exception failed) {
                throw new AssertionError(failed);
            } finally {
                other.shutdownNow();
            }
            assertThat(row("cup")).isEqualTo(1);
        }
    }
}
