package io.easykit.cache.springcache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.InvalidCacheCallException;
import io.easykit.cache.springcache.SpringShop.Product;
import io.easykit.cache.springcache.SpringShop.Products;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.Caching;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.AbstractReactiveTransactionManager;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionContext;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Publishers that are subscribed inside a reactive transaction, which Reactor's context carries. */
class SpringCacheReactiveTransactionsIntegrationTests {

    private static final AtomicInteger IDS = new AtomicInteger(2_000_000);
    private static ConfigurableApplicationContext context;

    private final long id = IDS.incrementAndGet();
    private final Products products = context.getBean(Products.class);
    private final Products target = AopTestUtils.getTargetObject(products);

    /** A transaction without a database. */
    private static final class Manager extends AbstractReactiveTransactionManager {

        private static final long serialVersionUID = 1L;

        /** Runs in each commit. */
        private volatile Runnable commit = () -> {};

        @Override
        protected Object doGetTransaction(TransactionSynchronizationManager present) {
            return this;
        }

        @Override
        protected Mono<Void> doBegin(
                TransactionSynchronizationManager present, Object transaction, TransactionDefinition definition) {
            return Mono.empty();
        }

        @Override
        protected Mono<Void> doCommit(
                TransactionSynchronizationManager present, GenericReactiveTransaction transaction) {
            return Mono.fromRunnable(commit);
        }

        @Override
        protected Mono<Void> doRollback(
                TransactionSynchronizationManager present, GenericReactiveTransaction transaction) {
            return Mono.empty();
        }
    }

    static class Writer {

        private final JdbcClient jdbc;

        Writer(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @CacheEvict(cacheNames = "product", key = "#product.id")
        @Transactional
        public Mono<Product> rename(Product product) {
            return Mono.fromCallable(() -> {
                jdbc.sql("update product set name = ? where id = ?")
                        .params(product.name(), product.id())
                        .update();
                return product;
            });
        }
    }

    /** Its conditions are false. */
    static class Bystander {

        @CacheEvict(cacheNames = "product", key = "#id", condition = "#id < 0")
        public Mono<Boolean> evict(long id) {
            return hasTransaction();
        }

        @CachePut(cacheNames = "product", key = "#id", condition = "#id < 0")
        public Mono<Boolean> put(long id) {
            return hasTransaction();
        }

        @Caching(
                evict = {
                    @CacheEvict(cacheNames = "product", key = "#id", condition = "#id < 0"),
                    @CacheEvict(cacheNames = "other", allEntries = true, condition = "#id < 0")
                })
        public Mono<Boolean> evictTwice(long id) {
            return hasTransaction();
        }

        private static Mono<Boolean> hasTransaction() {
            return Mono.deferContextual(present -> Mono.just(present.hasKey(TransactionContext.class)));
        }

        @CacheEvict(cacheNames = "product", key = "#id", condition = "#id < 0")
        public CompletableFuture<Thread> evictLater(long id) {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }

    static class Reader {

        @Cacheable(cacheNames = "product", key = "#id")
        public Mono<Product> find(long id, Mono<Product> source) {
            return source;
        }

        @Cacheable(
                cacheNames = {"product", "other"},
                key = "#id")
        public Mono<Product> findInTwo(long id, Mono<Product> source) {
            return source;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCaching
    @Import(SpringShop.Application.class)
    static class Application {

        @Bean
        Manager manager() {
            return new Manager();
        }

        @Bean
        Bystander bystander() {
            return new Bystander();
        }

        @Bean
        Reader reader() {
            return new Reader();
        }

        @Bean
        Writer writer(JdbcClient jdbc) {
            return new Writer(jdbc);
        }
    }

    @BeforeAll
    static void start() {
        RedisServer.shared().flush();
        context = SpringShop.start(Application.class);
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    private static JdbcClient jdbc() {
        return context.getBean(JdbcClient.class);
    }

    @BeforeEach
    void addProduct() {
        SpringShop.add(context, new Product(id, "old"));
        target.loads.set(0);
    }

    private static <T> T in(int propagation, Mono<T> work) {
        return TransactionalOperator.create(new Manager(), new DefaultTransactionDefinition(propagation))
                .transactional(work)
                .block(Duration.ofSeconds(30));
    }

    /** It may have read a row that is rolled back. */
    @Test
    void aReadInATransactionIsNotStored() {
        Product read = in(
                TransactionDefinition.PROPAGATION_REQUIRED,
                Mono.fromRunnable(() -> jdbc().sql("update product set name = 'uncommitted' where id = ?")
                                .param(id)
                                .update())
                        .then(products.findReactively(id)));
        assertThat(read.name()).isEqualTo("uncommitted");
        jdbc().sql("update product set name = 'old' where id = ?").param(id).update();

        assertThat(products.find(id).name()).as("after the rollback").isEqualTo("old");
        assertThat(target.loads).hasValue(2);
    }

    /** Else it would go on with a connection that another transaction has by then. */
    @Test
    void aReadInATransactionIsCancelledWithIt() {
        Reader reader = context.getBean(Reader.class);
        for (BiFunction<Long, Mono<Product>, Mono<Product>> find :
                List.<BiFunction<Long, Mono<Product>, Mono<Product>>>of(reader::find, reader::findInTwo)) {
            AtomicBoolean begun = new AtomicBoolean();
            AtomicBoolean cancelled = new AtomicBoolean();
            Mono<Product> source = Mono.create(row -> {
                row.onCancel(() -> cancelled.set(true));
                begun.set(true);
            });
            Disposable subscriber = TransactionalOperator.create(new Manager())
                    .transactional(find.apply(id, source))
                    .subscribe();
            await().untilTrue(begun);

            subscriber.dispose();

            assertThat(cancelled).isTrue();
        }
    }

    /** The value of the cache may be older than a change of the transaction. */
    @Test
    void aReadInATransactionReadsItsOwnChange() {
        assertThat(products.find(id).name()).isEqualTo("old");
        jdbc().sql("update product set name = 'own' where id = ?").param(id).update();

        assertThat(in(TransactionDefinition.PROPAGATION_REQUIRED, products.findReactively(id))
                        .name())
                .isEqualTo("own");
    }

    /** It would be invalidated before the commit, so a reader could store the old row again. */
    @Test
    void anUpdateInATransactionIsRefused() {
        assertThatThrownBy(() -> in(
                        TransactionDefinition.PROPAGATION_REQUIRED, products.renameReactively(new Product(id, "new"))))
                .isInstanceOf(InvalidCacheCallException.class)
                .hasMessageContaining("renameReactively")
                .hasMessageContaining("The method has not run")
                .hasMessageContaining("Move the annotation of the update to the method that begins the transaction");

        assertThat(products.find(id).name()).isEqualTo("old");
    }

    /** It updates nothing, so it runs as without a cache. */
    @Test
    void anUpdateWhoseConditionIsFalseStaysInTheTransactionAndOnTheThread() {
        Bystander bystander = context.getBean(Bystander.class);
        List<Mono<Boolean>> updates = List.of(bystander.evict(id), bystander.put(id), bystander.evictTwice(id));
        assertThat(updates).allMatch(update -> in(TransactionDefinition.PROPAGATION_REQUIRED, update));
        assertThat(bystander.evictLater(id)).isCompletedWithValue(Thread.currentThread());
    }

    @Test
    void aContextWithoutATransactionIsCached() {
        assertThat(in(TransactionDefinition.PROPAGATION_SUPPORTS, products.findReactively(id))
                        .name())
                .isEqualTo("old");
        assertThat(in(TransactionDefinition.PROPAGATION_SUPPORTS, products.renameReactively(new Product(id, "new")))
                        .name())
                .isEqualTo("new");

        assertThat(products.find(id).name()).isEqualTo("new");
        assertThat(products.find(id).name()).isEqualTo("new");
        assertThat(target.loads).hasValue(2);
    }

    /** The remedy of the refusal. */
    @Test
    void theTransactionOfTheMethodIsPartOfItsUpdate() {
        assertThat(products.find(id).name()).isEqualTo("old");
        AtomicReference<Object> prepared = new AtomicReference<>();
        context.getBean(Manager.class).commit = () -> prepared.set(isPrepared());

        Mono<Product> update = context.getBean(Writer.class).rename(new Product(id, "new"));
        assertThat(update.block(Duration.ofSeconds(30)).name()).isEqualTo("new");

        assertThat(prepared).as("during the commit").hasValue(1L);
        assertThat(isPrepared()).isEqualTo(0L);
        assertThat(products.find(id).name()).isEqualTo("new");
    }

    private Object isPrepared() {
        try (RawRedis raw = RedisServer.shared().connect()) {
            return raw.command("HEXISTS", "ec:product::" + id, "i");
        }
    }
}
