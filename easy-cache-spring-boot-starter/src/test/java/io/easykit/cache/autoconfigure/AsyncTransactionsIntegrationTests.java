package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.InvalidCacheCallException;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.AbstractReactiveTransactionManager;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import reactor.core.publisher.Mono;

/** easy-cache's own annotations on methods that return publishers, with transactions that Reactor's context carries. */
class AsyncTransactionsIntegrationTests {

    private static final Duration WAIT = Duration.ofSeconds(30);

    record Account(long id, long amount) {}

    /** A transaction without a database. Changes apply in the commit. */
    private static final class Manager extends AbstractReactiveTransactionManager {

        private static final long serialVersionUID = 1L;

        private final transient List<Runnable> changes = new CopyOnWriteArrayList<>();
        private final transient List<String> ends = new CopyOnWriteArrayList<>();

        /** Runs in each commit. */
        private transient volatile Runnable commit = () -> {};

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
            return Mono.fromRunnable(() -> {
                commit.run();
                changes.forEach(Runnable::run);
                changes.clear();
                ends.add("commit");
            });
        }

        @Override
        protected Mono<Void> doRollback(
                TransactionSynchronizationManager present, GenericReactiveTransaction transaction) {
            return Mono.fromRunnable(() -> {
                changes.clear();
                ends.add("rollback");
            });
        }
    }

    static class Accounts {

        private final Manager manager;
        private final Map<Long, Long> rows = new ConcurrentHashMap<>();
        private final AtomicInteger loads = new AtomicInteger();

        Accounts(Manager manager) {
            this.manager = manager;
        }

        @Cacheable(prefix = "account", keys = "#id", staleWindow = "0s")
        public Mono<Account> find(long id) {
            return Mono.fromCallable(() -> {
                loads.incrementAndGet();
                return new Account(id, rows.get(id));
            });
        }

        @Cacheable(prefix = "account", keys = "#ids", batch = true, staleWindow = "0s")
        public Mono<Map<Long, Account>> findAll(List<Long> ids) {
            return Mono.fromCallable(() -> {
                loads.incrementAndGet();
                Map<Long, Account> found = new ConcurrentHashMap<>();
                ids.forEach(id -> found.put(id, new Account(id, rows.get(id))));
                return found;
            });
        }

        @UpdateCache(prefix = "account", keys = "#account.id")
        public Mono<Account> change(Account account) {
            return Mono.fromCallable(() -> {
                manager.changes.add(() -> rows.put(account.id(), account.amount()));
                return account;
            });
        }

        @UpdateCache(prefix = "account", keys = "#account.id")
        @Transactional
        public Mono<Account> changeInTransaction(Account account) {
            return change(account).map(changed -> {
                if (changed.amount() < 0) {
                    throw new IllegalStateException("overdrawn");
                }
                return changed;
            });
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCacheAndDatabase
    static class Application {

        @Bean
        Manager manager() {
            return new Manager();
        }

        @Bean
        Accounts accounts(Manager manager) {
            return new Accounts(manager);
        }
    }

    private static final AtomicInteger IDS = new AtomicInteger();
    private static ConfigurableApplicationContext context;

    private final long id = IDS.incrementAndGet();
    private final Accounts accounts = context.getBean(Accounts.class);
    private final Accounts target = AopTestUtils.getTargetObject(accounts);
    private final Manager manager = context.getBean(Manager.class);

    @BeforeAll
    static void start() {
        RedisServer redis = RedisServer.shared();
        redis.flush();
        context = new SpringApplicationBuilder(Application.class)
                .properties(
                        "spring.data.redis.host=" + redis.host(),
                        "spring.data.redis.port=" + redis.port(),
                        "easy-cache.command-timeout=20s",
                        "spring.main.web-application-type=none")
                .run();
    }

    @AfterAll
    static void stop() {
        context.close();
    }

    @BeforeEach
    void reset() {
        target.rows.put(id, 1L);
        target.loads.set(0);
        manager.changes.clear();
        manager.ends.clear();
        manager.commit = () -> {};
    }

    private static boolean isPrepared(long id) {
        try (RawRedis raw = RedisServer.shared().connect()) {
            return Long.valueOf(1).equals(raw.command("HEXISTS", "ec:account::" + id, "i"));
        }
    }

    private <T> T in(int propagation, Mono<T> work) {
        return TransactionalOperator.create(manager, new DefaultTransactionDefinition(propagation))
                .transactional(work)
                .block(WAIT);
    }

    private long amount() {
        return accounts.find(id).block(WAIT).amount();
    }

    @Test
    void theTransactionOfTheMethodIsPartOfItsUpdate() {
        assertThat(amount()).isEqualTo(1);
        List<Boolean> prepared = new CopyOnWriteArrayList<>();
        manager.commit = () -> prepared.add(isPrepared(id));

        assertThat(accounts.changeInTransaction(new Account(id, 2)).block(WAIT).amount())
                .isEqualTo(2);

        assertThat(prepared).as("during the commit").containsExactly(true);
        assertThat(isPrepared(id)).isFalse();
        assertThat(manager.ends).containsExactly("commit");
        assertThat(amount()).isEqualTo(2);
    }

    @Test
    void aRollbackInvalidatesToo() {
        assertThat(amount()).isEqualTo(1);

        assertThatThrownBy(
                        () -> accounts.changeInTransaction(new Account(id, -1)).block(WAIT))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("overdrawn");

        assertThat(isPrepared(id)).isFalse();
        assertThat(manager.ends).containsExactly("rollback");
        assertThat(amount()).isEqualTo(1);
        assertThat(target.loads).hasValue(2);
    }

    /** A reader between the end of the method and the commit may not keep the old row. */
    @Test
    void aReadDuringTheCommitIsNotStored() {
        manager.commit =
                () -> assertThat(accounts.find(id).block(WAIT).amount()).isEqualTo(1);

        accounts.changeInTransaction(new Account(id, 2)).block(WAIT);

        assertThat(amount()).isEqualTo(2);
        assertThat(target.loads).hasValue(2);
    }

    /** It may have read a row that is rolled back, and a cached value may be older than a change of the transaction. */
    @Test
    void aReadInATransactionIsNotCached() {
        assertThat(amount()).isEqualTo(1);
        target.rows.put(id, 7L);
        assertThat(in(TransactionDefinition.PROPAGATION_REQUIRED, accounts.find(id))
                        .amount())
                .isEqualTo(7);
        assertThat(in(TransactionDefinition.PROPAGATION_REQUIRED, accounts.findAll(List.of(id))))
                .containsEntry(id, new Account(id, 7));
        target.rows.put(id, 1L);

        assertThat(amount()).isEqualTo(1);
        assertThat(target.loads).hasValue(3);
    }

    /** It would be invalidated before the commit, so a reader could store the old row again. */
    @Test
    void anUpdateInATransactionIsRefused() {
        assertThatThrownBy(() -> in(TransactionDefinition.PROPAGATION_REQUIRED, accounts.change(new Account(id, 2))))
                .isInstanceOf(InvalidCacheCallException.class)
                .hasMessageContaining("change")
                .hasMessageContaining("The method has not run")
                .hasMessageContaining("Move the annotation of the update to the method that begins the transaction");

        assertThat(amount()).isEqualTo(1);
        assertThat(isPrepared(id)).isFalse();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement(order = 0)
    static class TransactionsFirst {}

    /** The transaction of the method begins before its update then. */
    @Test
    void anUpdateIsRefusedIfTransactionsStandOutsideOfIt() {
        RedisServer redis = RedisServer.shared();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class, DataRedisAutoConfiguration.class, EasyCacheAutoConfiguration.class))
                .withUserConfiguration(TransactionsFirst.class)
                .withBean(Manager.class, Manager::new)
                .withBean(Accounts.class)
                .withPropertyValues("spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.port())
                .run(first -> {
                    Mono<Account> update = first.getBean(Accounts.class).changeInTransaction(new Account(id, 2));
                    assertThatThrownBy(() -> update.block(WAIT))
                            .isInstanceOf(InvalidCacheCallException.class)
                            .hasMessageContaining("remove the order of @EnableTransactionManagement");
                });
    }

    @Test
    void aContextWithoutATransactionIsCached() {
        assertThat(in(TransactionDefinition.PROPAGATION_SUPPORTS, accounts.find(id))
                        .amount())
                .isEqualTo(1);
        assertThat(in(TransactionDefinition.PROPAGATION_SUPPORTS, accounts.find(id))
                        .amount())
                .isEqualTo(1);
        assertThat(target.loads).hasValue(1);
    }
}
