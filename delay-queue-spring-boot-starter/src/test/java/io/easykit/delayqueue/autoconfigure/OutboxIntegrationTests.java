package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.delayqueue.store.SendOutboxException;
import io.easykit.test.RedisServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Sends through the outbox of a real database. */
class OutboxIntegrationTests {

    private static final String TOPIC = "orders";
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withUserConfiguration(Application.class)
            .withPropertyValues(
                    "spring.data.redis.url=" + RedisServer.shared().uri(),
                    "delay-queue.command-timeout=2s",
                    "delay-queue.send-phase=outbox",
                    "spring.datasource.generate-unique-name=true");

    private final ApplicationContextRunner bare = new ApplicationContextRunner()
            .withUserConfiguration(Bare.class)
            .withPropertyValues("delay-queue.send-phase=outbox");

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    @Test
    void deliversWhatWasCommittedAndSeesItsRowsThen() {
        run(shop -> {
            SendResult result = Objects.requireNonNull(shop.transactions.execute(status -> {
                shop.database.update("insert into orders values (1)");
                SendResult sent = shop.queue.send(TOPIC, "order 1");
                assertThat(shop.outboxRows()).isEqualTo(1);
                return sent;
            }));

            assertThat(result.isPending()).isTrue();
            assertThat(shop.delivered()).isEqualTo("order 1, rows 1");
            await().atMost(PATIENCE).until(() -> shop.outboxRows() == 0);
        });
    }

    @Test
    void storesNothingOfWhatIsRolledBack() {
        run(shop -> {
            shop.transactions.executeWithoutResult(status -> {
                shop.queue.send(TOPIC, "rolled back");
                status.setRollbackOnly();
            });
            shop.transactions.executeWithoutResult(status -> {
                Object savepoint = status.createSavepoint();
                shop.queue.send(TOPIC, "rolled back to the savepoint");
                status.rollbackToSavepoint(savepoint);
                shop.queue.send(TOPIC, "committed");
            });

            assertThat(shop.delivered()).startsWith("committed,");
            await().atMost(PATIENCE).until(() -> shop.outboxRows() == 0);
            assertThat(shop.delivered).isEmpty();
        });
    }

    @Test
    void commitsWhileRedisIsAwayAndDeliversWhenItIsBack() {
        try (RedisServer redis = RedisServer.start()) {
            runner.withPropertyValues("spring.data.redis.url=" + redis.uri(), "delay-queue.command-timeout=250ms")
                    .run(context -> {
                        Shop shop = new Shop(context);
                        redis.kill();
                        shop.transactions.executeWithoutResult(status -> {
                            shop.database.update("insert into orders values (1)");
                            shop.queue.send(TOPIC, "order 1");
                        });
                        assertThat(shop.outboxRows()).isEqualTo(1);

                        redis.restart();

                        assertThat(shop.delivered()).isEqualTo("order 1, rows 1");
                    });
        }
    }

    @Test
    void storesAtOnceOutsideOfTransactionsAndInCallbacksAfterThem() {
        run(shop -> {
            List<@Nullable SendOutcome> outcomes = new ArrayList<>();
            outcomes.add(shop.queue.send(TOPIC, "outside").outcome());
            shop.transactions.executeWithoutResult(status ->
                    TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                        @Override
                        public void afterCommit() {
                            outcomes.add(
                                    shop.queue.send(TOPIC, "after the commit").outcome());
                        }

                        @Override
                        public void afterCompletion(int end) {
                            outcomes.add(shop.queue
                                    .send(TOPIC, "after the completion")
                                    .outcome());
                        }
                    }));

            assertThat(outcomes).containsOnly(SendOutcome.STORED).hasSize(3);
        });
    }

    /** As in a {@code @TransactionalEventListener} that calls a transactional method. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void storesAtOnceWhatACallbackSendsOnTheConnectionOfTheEndedTransaction(boolean commits) {
        run(shop -> {
            TransactionTemplate requiresNew = new TransactionTemplate(
                    Objects.requireNonNull(shop.transactions.getTransactionManager()),
                    new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
            shop.transactions.executeWithoutResult(status -> {
                TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                    @Override
                    public void afterCompletion(int end) {
                        shop.transactions.executeWithoutResult(inner -> shop.queue.send(TOPIC, "joined"));
                        requiresNew.executeWithoutResult(other -> shop.queue.send(TOPIC, "apart"));
                        shop.transactions.executeWithoutResult(inner -> shop.queue.send(TOPIC, "joined again"));
                    }
                });
                if (!commits) {
                    status.setRollbackOnly();
                }
            });
            assertThat(List.of(shop.delivered(), shop.delivered(), shop.delivered()))
                    .extracting(message -> message.substring(0, message.indexOf(',')))
                    .containsExactlyInAnyOrder("joined", "apart", "joined again");
        });
    }

    @Test
    void writesTheSendsOfCallbacksBeforeTheCommit() {
        run(shop -> {
            shop.transactions.executeWithoutResult(status ->
                    TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                        @Override
                        public void beforeCommit(boolean readOnly) {
                            assertThat(shop.queue.send(TOPIC, "late").isPending())
                                    .isTrue();
                        }
                    }));

            assertThat(shop.delivered()).startsWith("late,");
        });
    }

    @Test
    void cancelsAMessageOfTheSameTransaction() {
        run(shop -> {
            shop.transactions.executeWithoutResult(status -> {
                shop.queue.send(OutgoingMessage.of(TOPIC, "x").id("a").after(HOUR));
                shop.queue.send(OutgoingMessage.of(TOPIC, "x").id("b").after(HOUR));
                shop.queue.send(OutgoingMessage.of(TOPIC, "x").id("c").after(HOUR));
                assertThat(shop.queue.cancel(TOPIC, "a")).isEqualTo(ChangeOutcome.APPLIED);
                shop.queue.cancelAfterCommit(TOPIC, "b");
            });

            await().atMost(PATIENCE).until(() -> shop.queue
                    .find(TOPIC, "c")
                    .filter(found -> found.state() == MessageInfo.State.WAITING)
                    .isPresent());
            assertThat(shop.queue.find(TOPIC, "a")).isEmpty();
            assertThat(shop.queue.find(TOPIC, "b")).isEmpty();
        });
    }

    /** The rows are visible already. A delete could not be undone, nor would the relay see it in time. */
    @Test
    void cancelsNoCommittedMessageInACallbackAfterTheCommit() {
        run(shop -> {
            List<@Nullable ChangeOutcome> outcomes = new ArrayList<>();
            shop.transactions.executeWithoutResult(status -> {
                afterCommit(() -> {
                    outcomes.add(shop.queue.cancel(TOPIC, "a"));
                    outcomes.add(shop.queue.cancelAll(TOPIC, List.of("b")).get("b"));
                });
                shop.queue.send(OutgoingMessage.of(TOPIC, "x").id("a").after(HOUR));
                shop.queue.send(OutgoingMessage.of(TOPIC, "x").id("b").after(HOUR));
                afterCommit(() -> await().atMost(PATIENCE)
                        .until(() -> shop.queue.find(TOPIC, "a").isPresent()
                                && shop.queue.find(TOPIC, "b").isPresent()));
            });

            assertThat(outcomes).containsExactly(ChangeOutcome.GONE, ChangeOutcome.GONE);
        });
    }

    private static void afterCommit(Runnable action) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void afterCommit() {
                action.run();
            }
        });
    }

    @Test
    void refusesToSendInATransactionOfAnotherDatabase() {
        run(shop -> {
            JdbcDataSource other = new JdbcDataSource();
            other.setUrl("jdbc:h2:mem:other");
            TransactionTemplate foreign = new TransactionTemplate(new DataSourceTransactionManager(other));

            assertThatThrownBy(() -> foreign.execute(status -> shop.queue.send(TOPIC, "x")))
                    .isInstanceOf(SendOutboxException.class)
                    .hasMessageContaining("nothing was sent");
            assertThat(foreign.execute(status -> shop.queue.send(
                                    OutgoingMessage.of(TOPIC, "x").phase(SendPhase.IMMEDIATELY)))
                            .outcome())
                    .isEqualTo(SendOutcome.STORED);
        });
    }

    @Test
    void takesTheQualifiedDataSource() {
        runner.withUserConfiguration(TwoDatabases.class).run(context -> {
            JdbcTemplate second = new JdbcTemplate(context.getBean("second", DataSource.class));
            assertThat(second.queryForObject("select count(*) from delay_queue_outbox", Long.class))
                    .isZero();
            TransactionTemplate transactions =
                    new TransactionTemplate(context.getBean("secondTransactions", PlatformTransactionManager.class));
            DelayQueueTemplate queue = context.getBean(DelayQueueTemplate.class);
            assertThat(Objects.requireNonNull(transactions.execute(status -> queue.send(TOPIC, "x")))
                            .isPending())
                    .isTrue();
        });
    }

    @Test
    void showsItsRowsInMetersAndHealth() {
        run(shop -> {
            MeterRegistry meters = shop.context.getBean(MeterRegistry.class);
            await().atMost(PATIENCE)
                    .until(() -> meters.get("delayqueue.outbox.waiting").gauge().value() == 0);
            assertThat(meters.get("delayqueue.outbox.oldest").gauge().value()).isZero();
            assertThat(meters.get("delayqueue.outbox.refused").gauge().value()).isZero();
            assertThat(Objects.requireNonNull(shop.context
                                    .getBean("delayQueueHealthIndicator", HealthIndicator.class)
                                    .health())
                            .getDetails())
                    .containsKey("outbox");
        });
    }

    @Test
    void hasNoOutboxUnlessItIsWanted() {
        runner.withPropertyValues("delay-queue.send-phase=before-commit")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(SendOutbox.class));
        runner.withPropertyValues("delay-queue.send-phase=before-commit", "delay-queue.outbox.enabled=true")
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(SendOutbox.class));
    }

    @Test
    void refusesADatabaseThatTakesNoWrites(@TempDir Path directory) {
        String url = "jdbc:h2:file:" + directory.resolve("shop");
        JdbcClient.create(new DriverManagerDataSource(url, "sa", ""))
                .sql("runscript from 'classpath:io/easykit/delayqueue/jdbc/outbox-h2.sql'")
                .update();
        runner.withPropertyValues(
                        "delay-queue.outbox.initialize-schema=never",
                        "spring.datasource.username=sa",
                        "spring.datasource.url=" + url + ";ACCESS_MODE_DATA=r")
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining(
                                "The tables delay_queue_outbox and delay_queue_outbox_lease cannot be used")
                        .hasStackTraceContaining("The database accepts no writes"));
    }

    @Test
    void reportsMistakesAtTheStart() {
        runner.withClassLoader(new FilteredClassLoader("org.springframework.jdbc"))
                .run(context ->
                        assertThat(context.getStartupFailure()).hasStackTraceContaining("spring-boot-starter-jdbc"));
        runner.withPropertyValues("delay-queue.outbox.enabled=false")
                .run(context ->
                        assertThat(context.getStartupFailure()).hasStackTraceContaining("delay-queue.outbox.enabled"));
        runner.withPropertyValues("delay-queue.outbox.lease=10s").run(context -> assertThat(context.getStartupFailure())
                .hasStackTraceContaining("ten times the command-timeout"));
        runner.withPropertyValues("delay-queue.outbox.initialize-schema=never").run(context -> assertThat(
                        context.getStartupFailure())
                .hasStackTraceContaining("The tables delay_queue_outbox and delay_queue_outbox_lease cannot be used"));
        runner.withPropertyValues("delay-queue.outbox.platform=oracle")
                .run(context -> assertThat(context.getStartupFailure())
                        .hasStackTraceContaining("delay-queue.outbox.platform to h2, mariadb, mysql or postgresql"));
        bare.withBean("a", DataSource.class, JdbcDataSource::new)
                .withBean("b", DataSource.class, JdbcDataSource::new)
                .run(context ->
                        assertThat(context.getStartupFailure()).hasStackTraceContaining("@DelayQueueDataSource"));
    }

    private void run(Consumer<Shop> test) {
        runner.run(context -> {
            assertThat(context).hasNotFailed();
            test.accept(new Shop(context));
        });
    }

    private static final class Shop {

        final ApplicationContext context;
        final JdbcTemplate database;
        final TransactionTemplate transactions;
        final DelayQueueTemplate queue;
        final BlockingQueue<String> delivered;

        Shop(ApplicationContext context) {
            this.context = context;
            this.database = context.getBean(JdbcTemplate.class);
            this.transactions = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
            this.queue = context.getBean(DelayQueueTemplate.class);
            this.delivered = context.getBean(Listener.class).delivered;
            database.execute("create table orders (id int primary key)");
        }

        /** As the transaction of this thread sees them. */
        long outboxRows() {
            return Objects.requireNonNull(
                    database.queryForObject("select count(*) from delay_queue_outbox", Long.class));
        }

        String delivered() {
            try {
                return Objects.requireNonNull(delivered.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS), "nothing came");
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableQueueAndDatabase
    static class Application {

        @Bean
        Listener listener(JdbcTemplate database) {
            return new Listener(database);
        }

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableQueueAndDatabase
    static class Bare {}

    static class Listener {

        private final BlockingQueue<String> delivered = new LinkedBlockingQueue<>();
        private final JdbcTemplate database;

        Listener(JdbcTemplate database) {
            this.database = database;
        }

        @DelayListener(topic = TOPIC)
        void on(String order) {
            delivered.add(order + ", rows " + database.queryForObject("select count(*) from orders", Long.class));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoDatabases {

        @Bean
        DataSource first() {
            return database("first");
        }

        @Bean
        @DelayQueueDataSource
        DataSource second() {
            return database("second");
        }

        @Bean
        JdbcTemplate firstTemplate(DataSource first) {
            return new JdbcTemplate(first);
        }

        @Bean
        PlatformTransactionManager secondTransactions(@DelayQueueDataSource DataSource second) {
            return new DataSourceTransactionManager(second);
        }

        private static DataSource database(String name) {
            JdbcDataSource database = new JdbcDataSource();
            database.setUrl("jdbc:h2:mem:" + name + System.nanoTime() + ";DB_CLOSE_DELAY=-1");
            return database;
        }
    }
}
