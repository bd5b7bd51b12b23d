package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.InvalidCacheCallException;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.redis.RedisEntryStore;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
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
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A service on R2DBC: cached reads, and updates in reactive transactions of a database. */
class R2dbcIntegrationTests {

    private static final Duration WAIT = Duration.ofSeconds(30);

    record Product(long id, String name) {}

    /** The table. */
    static class Repository {

        private final DatabaseClient database;
        private final AtomicInteger reads = new AtomicInteger();

        /** Begins each read. */
        private volatile Mono<?> mayRead = Mono.empty();

        /** Ends each read, when it has the row. */
        private volatile Mono<?> mayReturn = Mono.empty();

        /** Ends each change of a row. */
        private volatile Mono<?> mayCommit = Mono.empty();

        Repository(DatabaseClient database) {
            this.database = database;
        }

        Mono<Product> findById(long id) {
            return Mono.fromRunnable(reads::incrementAndGet)
                    .then(Mono.defer(() -> mayRead.then()))
                    .then(database.sql("select id, name from product where id = :id")
                            .bind("id", id)
                            .map(row -> new Product(row.get("id", Long.class), row.get("name", String.class)))
                            .one())
                    .delayUntil(any -> mayReturn);
        }

        Mono<Product> save(Product product) {
            return database.sql("merge into product (id, name) values (:id, :name)")
                    .bind("id", product.id())
                    .bind("name", product.name())
                    .fetch()
                    .rowsUpdated()
                    .then(Mono.defer(() -> mayCommit.then()))
                    .then(Mono.defer(() -> product.name().isEmpty()
                            ? Mono.error(new IllegalArgumentException("no name"))
                            : Mono.just(product)));
        }
    }

    static class Products {

        private final Repository repository;

        Products(Repository repository) {
            this.repository = repository;
        }

        @Cacheable(prefix = "product", keys = "#id")
        public Mono<Product> find(long id) {
            return repository.findById(id);
        }

        @Cacheable(prefix = "strong", keys = "#id")
        public Mono<Product> findStrong(long id) {
            return repository.findById(id);
        }

        @Cacheable(prefix = "windowed", keys = "#id")
        public Mono<Product> findWindowed(long id) {
            return repository.findById(id);
        }

        @Cacheable(prefix = "product", keys = "#ids", batch = true)
        public Mono<Map<Long, Product>> findAll(Collection<Long> ids) {
            return Flux.fromIterable(List.copyOf(ids))
                    .concatMap(repository::findById)
                    .collectMap(Product::id);
        }

        @UpdateCache(prefix = "product", keys = "#product.id")
        @UpdateCache(prefix = "strong", keys = "#product.id")
        @Transactional
        public Mono<Product> save(Product product) {
            return repository.save(product);
        }

        @UpdateCache(prefix = "product", keys = "#products.![id]", batch = true)
        @Transactional
        public Mono<Void> saveAll(List<Product> products) {
            return Flux.fromIterable(products).concatMap(repository::save).then();
        }

        @UpdateCache(prefix = "product", keys = "#product.id")
        @Transactional
        public Mono<Product> saveAndFind(Product product, Products self) {
            return repository.save(product).then(self.find(product.id()));
        }

        @UpdateCache(prefix = "product", keys = "#product.id")
        public Mono<Product> saveByCode(Product product, TransactionalOperator transaction) {
            return repository.save(product).as(transaction::transactional);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        ConnectionFactory connections() {
            return ConnectionFactories.get("r2dbc:h2:mem:///r2dbc-tests?options=DB_CLOSE_DELAY=-1");
        }

        @Bean
        ReactiveTransactionManager transactions(ConnectionFactory connections) {
            return new R2dbcTransactionManager(connections);
        }

        @Bean
        DatabaseClient database(ConnectionFactory connections) {
            return DatabaseClient.create(connections);
        }

        @Bean
        Repository repository(DatabaseClient database) {
            return new Repository(database);
        }

        @Bean
        Products products(Repository repository) {
            return new Products(repository);
        }
    }

    /** A cache of the rows. */
    enum Rows {
        AP("product") {
            @Override
            Mono<Product> find(Products products, long id) {
                return products.find(id);
            }
        },
        CP("strong") {
            @Override
            Mono<Product> find(Products products, long id) {
                return products.findStrong(id);
            }
        };

        private final String prefix;

        Rows(String prefix) {
            this.prefix = prefix;
        }

        abstract Mono<Product> find(Products products, long id);

        String name(Products products, long id) {
            return find(products, id).block(WAIT).name();
        }

        boolean isMarked(long id) {
            return Long.valueOf(1).equals(redis("HEXISTS", "ec:" + prefix + "::" + id, "i"));
        }
    }

    private static final AtomicInteger IDS = new AtomicInteger();
    private static ConfigurableApplicationContext context;

    private final long id = IDS.addAndGet(1000);
    private final Products products = context.getBean(Products.class);
    private final Repository repository = context.getBean(Repository.class);
    private final Product changed = new Product(id, "new");
    private final Gate gate = new Gate();

    /** Where work waits. */
    private static final class Gate {

        private final CompletableFuture<Void> reached = new CompletableFuture<>();
        private final CompletableFuture<Void> opened = new CompletableFuture<>();
        private final CompletableFuture<Void> cancelled = new CompletableFuture<>();

        @SuppressWarnings("FutureReturnValueIgnored") // the publisher ends with it
        Mono<Void> pass() {
            return Mono.create(work -> {
                work.onCancel(() -> cancelled.complete(null));
                opened.thenRun(work::success);
                reached.complete(null);
            });
        }

        void awaitReached() {
            await().atMost(WAIT).until(reached::isDone);
        }

        void open() {
            opened.complete(null);
        }
    }

    @BeforeAll
    static void start() {
        RedisServer redis = RedisServer.shared();
        redis.flush();
        context = new SpringApplicationBuilder(Application.class)
                .properties(
                        "spring.data.redis.host=" + redis.host(),
                        "spring.data.redis.port=" + redis.port(),
                        "easy-cache.command-timeout=20s",
                        "easy-cache.defaults.load-wait-timeout=1m",
                        "easy-cache.defaults.stale-window=0s",
                        "easy-cache.caches.strong.consistency=cp",
                        "easy-cache.caches.windowed.stale-window=1m",
                        "spring.main.web-application-type=none")
                .run();
        context.getBean(DatabaseClient.class)
                .sql("create table product (id bigint primary key, name varchar(100))")
                .then()
                .block(WAIT);
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @BeforeEach
    void reset() {
        repository.reads.set(0);
        repository.mayRead = Mono.empty();
        repository.mayReturn = Mono.empty();
        repository.mayCommit = Mono.empty();
        insert(id);
    }

    private void insert(long row) {
        repository.save(new Product(row, "old")).block(WAIT);
    }

    private static Object redis(String... command) {
        try (RawRedis raw = RedisServer.shared().connect()) {
            return raw.command(command);
        }
    }

    private static TransactionalOperator transaction(int propagation) {
        return TransactionalOperator.create(
                context.getBean(ReactiveTransactionManager.class), new DefaultTransactionDefinition(propagation));
    }

    private static TransactionalOperator transaction() {
        return transaction(TransactionDefinition.PROPAGATION_REQUIRED);
    }

    private String find() {
        return products.find(id).block(WAIT).name();
    }

    /** Until the row is changed, and its transaction is open. */
    private CompletableFuture<Product> saveUntilGate() {
        repository.mayCommit = gate.pass();
        CompletableFuture<Product> update = products.save(changed).toFuture();
        gate.awaitReached();
        return update;
    }

    @ParameterizedTest
    @EnumSource(Rows.class)
    void theReadAfterACommitHasTheNewValue(Rows rows) {
        assertThat(rows.name(products, id)).isEqualTo("old");
        assertThat(rows.name(products, id)).isEqualTo("old");
        assertThat(repository.reads).hasValue(1);
        CompletableFuture<Product> update = saveUntilGate();
        assertThat(rows.isMarked(id)).as("before the commit").isTrue();
        gate.open();

        assertThat(update.join().name()).isEqualTo("new");
        assertThat(rows.isMarked(id)).isFalse();
        assertThat(rows.name(products, id)).isEqualTo("new");
        assertThat(rows.name(products, id)).isEqualTo("new");
        assertThat(repository.reads).hasValue(2);
    }

    @ParameterizedTest
    @EnumSource(Rows.class)
    void theReadAfterARollbackHasTheOldValueAndStoresIt(Rows rows) {
        assertThat(rows.name(products, id)).isEqualTo("old");

        assertThatThrownBy(() -> products.save(new Product(id, "")).block(WAIT)).hasMessage("no name");

        assertThat(rows.isMarked(id)).isFalse();
        assertThat(rows.name(products, id)).isEqualTo("old");
        assertThat(rows.name(products, id)).isEqualTo("old");
        assertThat(repository.reads).hasValue(2);
    }

    /** It has begun before the mark. */
    @ParameterizedTest
    @EnumSource(Rows.class)
    void aReadThatStoresBetweenMarkAndCommitIsFenced(Rows rows) {
        Gate read = new Gate();
        repository.mayReturn = read.pass();
        CompletableFuture<Product> reader = rows.find(products, id).toFuture();
        read.awaitReached();
        repository.mayReturn = Mono.empty();
        CompletableFuture<Product> update = saveUntilGate();
        read.open();
        assertThat(reader.join().name()).isEqualTo("old");
        gate.open();
        update.join();

        assertThat(rows.name(products, id)).isEqualTo("new");
    }

    /** It stores after the commit. */
    @ParameterizedTest
    @EnumSource(Rows.class)
    void aReadThatBeginsBetweenMarkAndCommitIsFenced(Rows rows) {
        CompletableFuture<Product> update = saveUntilGate();
        Gate read = new Gate();
        repository.mayReturn = read.pass();
        CompletableFuture<Product> reader = rows.find(products, id).toFuture();
        read.awaitReached();
        repository.mayReturn = Mono.empty();
        gate.open();
        update.join();
        read.open();
        assertThat(reader.join().name()).isEqualTo("old");

        assertThat(rows.name(products, id)).isEqualTo("new");
    }

    @Test
    void anUpdateInsideATransactionIsRefused() {
        assertThatThrownBy(() -> repository
                        .save(new Product(id, "before"))
                        .then(products.save(changed))
                        .as(transaction()::transactional)
                        .block(WAIT))
                .isInstanceOf(InvalidCacheCallException.class)
                .hasMessageContaining("Move the annotation of the update to the method that begins the transaction");

        assertThat(find()).isEqualTo("old");
        assertThat(Rows.AP.isMarked(id)).isFalse();
    }

    /** Its context still has the transaction then. Spring replaces the exception. */
    @Test
    void anUpdateInAfterCommitIsRefused() {
        TransactionSynchronization update = new TransactionSynchronization() {
            @Override
            public Mono<Void> afterCommit() {
                return products.save(changed).then();
            }
        };
        Mono<?> registered = TransactionSynchronizationManager.forCurrentTransaction()
                .doOnNext(present -> present.registerSynchronization(update));

        assertThatThrownBy(() -> repository
                        .save(new Product(id + 1, "committed"))
                        .then(registered)
                        .as(transaction()::transactional)
                        .block(WAIT))
                .isInstanceOf(RuntimeException.class);

        assertThat(find()).isEqualTo("old");
        assertThat(products.find(id + 1).block(WAIT).name()).isEqualTo("committed");
    }

    @ParameterizedTest
    @EnumSource(Rows.class)
    void aReadInsideATransactionSeesItsChangesAndStoresNothing(Rows rows) {
        assertThat(rows.name(products, id)).isEqualTo("old");
        assertThatThrownBy(() -> repository
                        .save(new Product(id, "uncommitted"))
                        .then(rows.find(products, id))
                        .flatMap(seen -> Mono.error(new IllegalStateException(seen.name())))
                        .as(transaction()::transactional)
                        .block(WAIT))
                .hasMessage("uncommitted");

        assertThat(rows.name(products, id)).isEqualTo("old");
        assertThat(repository.reads).as("the last one is a hit").hasValue(2);
    }

    @Test
    void aReadInsideTheTransactionOfItsUpdateSeesTheChange() {
        assertThat(find()).isEqualTo("old");

        assertThat(products.saveAndFind(changed, products).block(WAIT)).isEqualTo(changed);

        assertThat(find()).isEqualTo("new");
    }

    /** Else it would go on with a connection that another transaction has by then. */
    @Test
    void aReadInsideATransactionIsCancelledWithIt() {
        for (Mono<?> read : List.of(products.find(id), products.findAll(List.of(id)))) {
            Gate waiting = new Gate();
            repository.mayReturn = waiting.pass();
            Disposable subscriber = read.as(transaction()::transactional).subscribe();
            waiting.awaitReached();

            subscriber.dispose();

            assertThat(waiting.cancelled).isDone();
        }
    }

    /** The scope of a reader has a connection, which is given back when that reader cancels. */
    @Test
    void aSharedLoadDoesNotUseTheConnectionOfOneReader() {
        repository.mayReturn = repository.database.inConnection(connection -> gate.pass()
                .then(Mono.from(connection.createStatement("select 1").execute()))
                .then());
        Disposable first = products.find(id)
                .as(transaction(TransactionDefinition.PROPAGATION_SUPPORTS)::transactional)
                .subscribe();
        gate.awaitReached();
        CompletableFuture<Product> second = products.find(id).toFuture();
        first.dispose();
        gate.open();

        assertThat(second.join().name()).isEqualTo("old");
        assertThat(repository.reads).hasValue(1);
    }

    /** The transaction is suspended around the read, and goes on while the background loads. */
    @Test
    void aReloadInTheBackgroundSeesNoTransactionThatGoesOn() {
        assertThat(products.findWindowed(id).block(WAIT).name()).isEqualTo("old");
        repository.save(changed).block(WAIT);
        invalidateElsewhere();
        repository.mayRead = gate.pass();
        Mono<Product> suspended = products.findWindowed(id)
                .as(transaction(TransactionDefinition.PROPAGATION_NOT_SUPPORTED)::transactional);
        CompletableFuture<Void> reloaded = new CompletableFuture<>();
        repository.mayReturn = Mono.fromRunnable(() -> reloaded.complete(null));

        assertThatThrownBy(() -> repository
                        .save(new Product(id, "uncommitted"))
                        .then(suspended)
                        .doOnNext(any -> gate.open())
                        .delayUntil(any -> Mono.fromFuture(reloaded))
                        .flatMap(stale -> Mono.error(new IllegalStateException(stale.name())))
                        .as(transaction()::transactional)
                        .block(WAIT))
                .hasMessage("old");

        await().atMost(WAIT)
                .until(() -> !products.findWindowed(id).block(WAIT).name().equals("old"));
        assertThat(products.findWindowed(id).block(WAIT)).isEqualTo(changed);
    }

    /** By another node: this one would return no value that is older than an update of its own. */
    private void invalidateElsewhere() {
        CacheOptions options =
                CacheOptions.builder().staleWindow(Duration.ofMinutes(1)).build();
        CacheKey<Product> key =
                CacheSpec.of("windowed", Product.class).withOptions(options).key(id);
        RedisEntryStore store = new RedisEntryStore(context.getBean(RedisConnectionFactory.class), WAIT);
        try (EasyCacheEngine elsewhere = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .build()) {
            elsewhere.invalidate(List.of(key));
        }
    }

    @Test
    void anUpdateWhoseSubscriberCancelsCommitsAndIsInvalidated() {
        assertThat(find()).isEqualTo("old");
        repository.mayCommit = gate.pass();
        Disposable subscriber = products.save(changed).subscribe();
        gate.awaitReached();
        subscriber.dispose();

        assertThat(Rows.AP.isMarked(id)).isTrue();
        gate.open();
        await().atMost(WAIT).until(() -> !Rows.AP.isMarked(id));
        assertThat(find()).isEqualTo("new");
    }

    /** The first attempt goes on, so two updates of the row run at a time. */
    @Test
    void anUpdateMayBeRepeatedAfterATimeout() {
        assertThat(find()).isEqualTo("old");
        AtomicInteger attempts = new AtomicInteger();
        repository.mayCommit = Mono.defer(() -> attempts.get() == 1 ? gate.pass() : Mono.empty());
        Mono<?> timeout =
                Mono.defer(() -> attempts.incrementAndGet() == 1 ? Mono.fromFuture(gate.reached, true) : Mono.never());

        Product saved = products.save(changed)
                .timeout(timeout)
                .doOnError(TimeoutException.class, late -> gate.open())
                .retry(1)
                .block(WAIT);

        assertThat(saved).isEqualTo(changed);
        await().atMost(WAIT).until(() -> !Rows.AP.isMarked(id));
        assertThat(find()).isEqualTo("new");
    }

    @Test
    void eachRetryIsAnUpdateOfItsOwn() {
        assertThat(find()).isEqualTo("old");
        AtomicInteger attempts = new AtomicInteger();
        repository.mayCommit = Mono.defer(() -> attempts.incrementAndGet() < 3
                ? Mono.error(new IllegalStateException("attempt " + attempts))
                : Mono.empty());

        assertThat(products.save(changed).retry(2).block(WAIT)).isEqualTo(changed);

        assertThat(attempts).hasValue(3);
        assertThat(Rows.AP.isMarked(id)).isFalse();
        assertThat(find()).isEqualTo("new");
    }

    @Test
    void aTransactionByCodeInsideTheMethodIsPartOfItsUpdate() {
        assertThat(find()).isEqualTo("old");
        repository.mayCommit = gate.pass();
        CompletableFuture<Product> update =
                products.saveByCode(changed, transaction()).toFuture();
        gate.awaitReached();
        assertThat(Rows.AP.isMarked(id)).isTrue();
        gate.open();
        update.join();

        assertThat(Rows.AP.isMarked(id)).isFalse();
        assertThat(find()).isEqualTo("new");
    }

    @Test
    void aBatchIsReadAndUpdatedByElement() {
        insert(id + 1);
        List<Long> ids = List.of(id, id + 1, id + 2);
        assertThat(products.findAll(ids).block(WAIT)).containsOnlyKeys(id, id + 1);
        assertThat(products.findAll(ids).block(WAIT)).containsOnlyKeys(id, id + 1);
        assertThat(repository.reads).hasValue(3);

        Product next = new Product(id + 1, "newer");
        products.saveAll(List.of(changed, next)).block(WAIT);

        assertThat(products.findAll(ids).block(WAIT)).isEqualTo(Map.of(id, changed, id + 1, next));
        assertThat(repository.reads)
                .as("the third one is still known to be missing")
                .hasValue(5);
    }

    /** The row is cached as missing, until the update. */
    @Test
    void aRowIsFoundOrInserted() {
        Product added = new Product(id + 1, "added");
        Mono<Product> found = products.find(id + 1).switchIfEmpty(Mono.defer(() -> products.save(added)));

        assertThat(found.block(WAIT)).isEqualTo(added);
        assertThat(products.find(id + 1).block(WAIT)).isEqualTo(added);
        assertThat(found.block(WAIT)).isEqualTo(added);
        assertThat(repository.reads).hasValue(2);
    }

    @Test
    void manyUpdatesAtATimeAreEachSeenByTheNextReads() {
        List<Long> ids = LongStream.range(id + 1, id + 33).boxed().toList();
        ids.forEach(this::insert);
        Flux.fromIterable(ids).flatMap(products::find, 32).blockLast(WAIT);

        List<Product> read = Flux.fromIterable(ids)
                .map(row -> new Product(row, "new " + row))
                .flatMap(
                        product -> products.save(product)
                                .then(Mono.zip(products.find(product.id()), products.findStrong(product.id())))
                                .flatMapIterable(both -> List.of(both.getT1(), both.getT2())),
                        32)
                .collectList()
                .block(WAIT);

        assertThat(read).hasSize(64).allMatch(one -> one.name().equals("new " + one.id()));
    }
}
