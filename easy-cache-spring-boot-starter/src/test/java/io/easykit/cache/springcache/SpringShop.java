package io.easykit.cache.springcache;

import io.easykit.cache.autoconfigure.EnableCacheAndDatabase;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.Caching;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import reactor.core.publisher.Mono;

/** An application with Spring's cache annotations. Several contexts of it are nodes that share a Redis and a database. */
final class SpringShop {

    private SpringShop() {}

    record Product(long id, String name) {}

    /** The methods read and change rows of one table. */
    static class Products {

        private final JdbcClient jdbc;
        final AtomicInteger loads = new AtomicInteger();

        /** Runs once, in the next load, when the row has been read. */
        volatile Runnable meanwhile = () -> {};

        /** Runs in each update, when the row has been changed. */
        volatile Runnable beforeCommit = () -> {};

        volatile IOException failure = new IOException("no row");

        Products(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @Cacheable("product")
        public Product find(long id) {
            return load(id);
        }

        @Cacheable(cacheNames = "product", sync = true)
        public Product findOnce(long id) {
            return load(id);
        }

        @Cacheable("product")
        public Optional<Product> findMaybe(long id) {
            return Optional.ofNullable(load(id));
        }

        @Cacheable("product")
        public CompletableFuture<Product> findLater(long id) {
            return CompletableFuture.supplyAsync(() -> load(id));
        }

        @Cacheable(cacheNames = "product", sync = true)
        public Mono<Product> findReactively(long id) {
            return Mono.fromCallable(() -> load(id));
        }

        @Cacheable({"product", "copy"})
        public Product findInTwo(long id) {
            return load(id);
        }

        @Cacheable(cacheNames = "some", condition = "#id > 0", unless = "#result != null && #result.name == 'secret'")
        public Product findSome(long id) {
            return load(id);
        }

        @Cacheable("parts")
        public Product findByParts(long id, String language) {
            return load(id);
        }

        @Cacheable("checked")
        public Product fail(long id) throws IOException {
            loads.incrementAndGet();
            throw failure;
        }

        @CacheEvict(cacheNames = "product", key = "#product.id")
        @Transactional
        public void rename(Product product) {
            change(product);
        }

        @CachePut(cacheNames = "product", key = "#result.id")
        @Transactional
        public Product save(Product product) {
            change(product);
            return product;
        }

        @CacheEvict(cacheNames = "product", key = "#product.id")
        public CompletableFuture<Product> renameLater(Product product) {
            return CompletableFuture.supplyAsync(() -> {
                change(product);
                return product;
            });
        }

        @CacheEvict(cacheNames = "product", key = "#product.id")
        public Mono<Product> renameReactively(Product product) {
            return Mono.fromCallable(() -> {
                change(product);
                return product;
            });
        }

        @CacheEvict(cacheNames = "product", key = "#product.id", beforeInvocation = true)
        public void renameEarly(Product product) {
            change(product);
        }

        @CacheEvict(cacheNames = "product", key = "#id", beforeInvocation = true)
        public void renameEarlyById(Long id, String name) {
            beforeCommit.run();
            jdbc.sql("update product set name = ?").param(name).update();
        }

        /** Its key is known when it has run. */
        @CacheEvict(cacheNames = "product", key = "#id.get()")
        @Transactional
        public void failAfterCommit(AtomicReference<Long> id, Product product) {
            id.set(product.id());
            change(product);
            failAfterCommit();
        }

        /** Its condition is never evaluated, since there is no result. */
        @CacheEvict(cacheNames = "product", key = "#id.get()", condition = "#result != null")
        @Transactional
        public Product failAfterCommitIf(AtomicReference<Long> id, Product product) {
            id.set(product.id());
            change(product);
            failAfterCommit();
            return product;
        }

        private static void failAfterCommit() {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCommit() {
                    throw new IllegalStateException("after the commit");
                }
            });
        }

        @CacheEvict(cacheNames = "product", key = "#product.id", condition = "#result != null")
        public Product renameIf(Product product) {
            change(product);
            return product;
        }

        @CacheEvict(cacheNames = "product", key = "#product.id")
        @Transactional
        public void failToRename(Product product) {
            change(product);
            throw new IllegalStateException("rolled back");
        }

        @Caching(
                evict = {
                    @CacheEvict(cacheNames = "product", allEntries = true),
                    @CacheEvict(cacheNames = "parts", allEntries = true)
                })
        @Transactional
        public void renameAll(String name) {
            jdbc.sql("update product set name = ?").param(name).update();
            beforeCommit.run();
        }

        @CacheEvict(cacheNames = "strong", key = "#product.id")
        @Transactional
        public void renameStrong(Product product) {
            change(product);
        }

        @Cacheable("strong")
        public Product findStrong(long id) {
            return load(id);
        }

        @Cacheable("serial")
        public Product findSerial(long id) {
            return load(id);
        }

        @CacheEvict(cacheNames = "serial", key = "#id")
        public void renameSerial(Long id, String name) {
            jdbc.sql("update product set name = ?").param(name).update();
        }

        /** Returns whether a transaction is active. */
        @CacheEvict(cacheNames = "serial", key = "#id")
        public CompletableFuture<Boolean> renameSerialLater(Long id, String name) {
            return CompletableFuture.completedFuture(isInTransactionAfterRenaming(id, name));
        }

        /** Returns whether a transaction is active. */
        @CachePut(cacheNames = "serial", key = "#id")
        public Mono<Boolean> renameSerialReactively(Long id, String name) {
            return Mono.just(isInTransactionAfterRenaming(id, name));
        }

        private boolean isInTransactionAfterRenaming(Long id, String name) {
            change(new Product(id, name));
            return TransactionSynchronizationManager.isActualTransactionActive();
        }

        private void change(Product product) {
            jdbc.sql("update product set name = ? where id = ?")
                    .params(product.name(), product.id())
                    .update();
            beforeCommit.run();
        }

        private Product load(long id) {
            Product row = jdbc.sql("select id, name from product where id = ?")
                    .param(id)
                    .query(Product.class)
                    .optional()
                    .orElse(null);
            loads.incrementAndGet();
            Runnable once = meanwhile;
            meanwhile = () -> {};
            once.run();
            return row;
        }
    }

    /** Calls from inside transactions. */
    static class Facade {

        private final Products products;

        Facade(Products products) {
            this.products = products;
        }

        @Transactional(readOnly = true)
        public Product find(long id) {
            return products.find(id);
        }

        @Transactional
        public String renameAndRead(Product product) {
            products.rename(product);
            return products.find(product.id()).name();
        }

        @Transactional
        public void run(Runnable work) {
            work.run();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCacheAndDatabase
    @EnableCaching
    static class Application {

        @Bean
        Products products(JdbcClient jdbc) {
            return new Products(jdbc);
        }

        @Bean
        Facade facade(Products products) {
            return new Facade(products);
        }
    }

    /** Starts a node. The first one creates the table. */
    static ConfigurableApplicationContext start(Class<?> application, String... settings) {
        RedisServer redis = RedisServer.shared();
        ConfigurableApplicationContext node = new SpringApplicationBuilder(application)
                .properties(
                        "spring.data.redis.host=" + redis.host(),
                        "spring.data.redis.port=" + redis.port(),
                        "spring.datasource.url=jdbc:h2:mem:spring-shop;DB_CLOSE_DELAY=-1",
                        "easy-cache.spring-cache.enabled=true",
                        "easy-cache.command-timeout=10s",
                        "easy-cache.caches.strong.consistency=cp",
                        "easy-cache.caches.serial.serial=true",
                        "spring.main.web-application-type=none")
                .properties(Stream.of(settings).toArray(String[]::new))
                .run();
        node.getBeanProvider(JdbcClient.class).ifAvailable(jdbc -> jdbc.sql(
                        "create table if not exists product (id bigint primary key, name varchar(20))")
                .update());
        return node;
    }

    /** Adds a row to the table of all nodes. */
    static void add(ConfigurableApplicationContext node, Product product) {
        node.getBean(JdbcClient.class)
                .sql("insert into product values (?, ?)")
                .params(product.id(), product.name())
                .update();
    }

    /** Runs work on another thread, and waits for it. */
    static void elsewhere(Runnable work) {
        CompletableFuture.runAsync(work).orTimeout(30, TimeUnit.SECONDS).join();
    }
}
