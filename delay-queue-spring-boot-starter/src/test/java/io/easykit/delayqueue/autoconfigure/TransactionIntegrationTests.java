package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Sends inside transactions of a real database. */
class TransactionIntegrationTests {

    private static final String TOPIC = "orders";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withUserConfiguration(Application.class)
            .withPropertyValues(
                    "spring.data.redis.url=" + RedisServer.shared().uri(),
                    "delay-queue.command-timeout=2s",
                    "spring.datasource.generate-unique-name=true");

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    @Test
    void deliversWhatWasCommittedAndSeesTheRowThen() {
        run(shop -> {
            SendResult result = shop.inTransaction(() -> {
                SendResult sent = shop.order(1);
                assertThat(shop.stats().waiting()).isZero();
                return sent;
            });

            assertThat(result.isPending()).isTrue();
            assertThat(shop.delivered()).isEqualTo("order 1, rows 1");
        });
    }

    @Test
    void storesNothingOfWhatIsRolledBack() {
        run(shop -> {
            assertThatThrownBy(() -> shop.inTransaction(() -> {
                        shop.order(1);
                        throw new IllegalStateException("no");
                    }))
                    .hasMessage("no");

            assertThat(shop.rows()).isZero();
            assertThat(shop.stats().counters().sent()).isZero();
        });
    }

    @Test
    void cancelsWhatWasStoredWhenTheCommitFailsAfterAll() {
        run(shop -> {
            assertThatThrownBy(() -> shop.inTransaction(() -> {
                        SendResult sent = shop.order(1, Duration.ofHours(1), null);
                        beforeCommit(() -> {
                            throw new IllegalStateException("no commit");
                        });
                        return sent;
                    }))
                    .hasMessage("no commit");

            await().untilAsserted(() -> {
                ShardStats.Counters counters = shop.stats().counters();
                assertThat(counters.sent()).isEqualTo(1);
                assertThat(counters.cancelled()).isEqualTo(1);
            });
            assertThat(shop.stats().waiting()).isZero();
            assertThat(shop.rows()).isZero();
        });
    }

    @Test
    void rollsBackWithinTheTimeoutWhenRedisIsAway() {
        try (RedisServer redis = RedisServer.start()) {
            runner.withPropertyValues("spring.data.redis.url=" + redis.uri(), "delay-queue.command-timeout=500ms")
                    .run(context -> {
                        Shop shop = context.getBean(Shop.class);
                        shop.inTransaction(() -> shop.order(1));
                        assertThat(shop.delivered()).isEqualTo("order 1, rows 1");
                        redis.kill();
                        long begin = System.nanoTime();

                        assertThatThrownBy(() -> shop.inTransaction(() -> shop.order(2)))
                                .isInstanceOf(StoreUnavailableException.class);

                        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(8));
                        assertThat(shop.rows()).isEqualTo(1);
                    });
        }
    }

    @Test
    void storesAfterTheCommitIfToldSo() {
        runner.withPropertyValues("delay-queue.send-phase=after-commit").run(context -> {
            Shop shop = context.getBean(Shop.class);
            shop.inTransaction(() -> {
                SendResult sent = shop.order(1);
                beforeCommit(() -> assertThat(shop.stats().counters().sent()).isZero());
                return sent;
            });
            assertThat(shop.delivered()).isEqualTo("order 1, rows 1");
        });
    }

    @Test
    void storesAtOnceIfTheMessageSaysSo() {
        run(shop -> {
            assertThatThrownBy(() -> shop.inTransaction(() -> {
                        SendResult sent = shop.order(1, Duration.ZERO, SendPhase.IMMEDIATELY);
                        assertThat(sent.isPending()).isFalse();
                        throw new IllegalStateException("no");
                    }))
                    .hasMessage("no");

            assertThat(shop.delivered()).isEqualTo("order 1, rows 0");
        });
    }

    @Test
    void storesAtOnceWhereNoTransactionIsActive() {
        run(shop -> {
            TransactionTemplate supports = shop.transactions(TransactionDefinition.PROPAGATION_SUPPORTS);

            SendResult result = supports.execute(status -> shop.order(1));

            assertThat(result).satisfies(sent -> assertThat(sent.isPending()).isFalse());
            assertThat(shop.delivered()).isEqualTo("order 1, rows 1");
        });
    }

    @Test
    void forgetsWhatANestedTransactionSentThatWasRolledBack() {
        run(shop -> {
            shop.inTransaction(() -> {
                shop.order(1);
                shop.transactions(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult(status -> {
                    shop.order(2);
                    status.setRollbackOnly();
                });
                shop.transactions(TransactionDefinition.PROPAGATION_NESTED)
                        .executeWithoutResult(status -> shop.order(3));
                return shop.order(4);
            });

            assertThat(shop.delivered()).endsWith("rows 3");
            assertThat(shop.delivered()).endsWith("rows 3");
            assertThat(shop.delivered()).endsWith("rows 3");
            assertThat(shop.stats().counters().sent()).isEqualTo(3);
            assertThat(shop.handled).containsExactlyInAnyOrder(1, 3, 4);
        });
    }

    @Test
    void cancelsAfterTheSendsOfNestedTransactions() {
        run(shop -> {
            OutgoingMessage one = OutgoingMessage.of(TOPIC, 1)
                    .id("one")
                    .after(Duration.ofHours(1))
                    .phase(SendPhase.AFTER_COMMIT);

            shop.inTransaction(() -> {
                shop.queue.cancelAfterCommit(TOPIC, "one");
                shop.transactions(TransactionDefinition.PROPAGATION_NESTED).executeWithoutResult(status -> {
                    shop.queue.cancelAfterCommit(TOPIC, "none");
                    status.setRollbackOnly();
                });
                shop.transactions(TransactionDefinition.PROPAGATION_NESTED)
                        .executeWithoutResult(status -> shop.queue.send(one));
                return 0;
            });

            assertThat(shop.stats().counters().sent()).isEqualTo(1);
            assertThat(shop.stats().counters().cancelled()).isEqualTo(1);
        });
    }

    @Test
    void keepsTransactionsApartThatSuspendEachOther() {
        run(shop -> {
            assertThatThrownBy(() -> shop.inTransaction(() -> {
                        shop.order(1);
                        shop.transactions(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
                                .executeWithoutResult(status -> shop.order(2));
                        assertThat(shop.stats().counters().sent()).isEqualTo(1);
                        throw new IllegalStateException("no");
                    }))
                    .hasMessage("no");

            assertThat(shop.delivered()).isEqualTo("order 2, rows 1");
            assertThat(shop.stats().counters().sent()).isEqualTo(1);
        });
    }

    @Test
    void storesWhatIsSentWhileTheCommitBegins() {
        run(shop -> {
            shop.inTransaction(() -> {
                beforeCommit(() -> shop.order(1));
                return 0;
            });

            assertThat(shop.delivered()).isEqualTo("order 1, rows 1");
        });
    }

    @ParameterizedTest
    @EnumSource(value = SendPhase.class, mode = EnumSource.Mode.EXCLUDE, names = "OUTBOX")
    void storesWhatIsSentByACallbackAfterTheCommit(SendPhase phase) {
        run(shop -> {
            shop.inTransaction(() -> {
                afterCommit(() -> shop.send(1, Duration.ZERO, phase));
                return 0;
            });

            assertThat(shop.delivered()).isEqualTo("order 1, rows 0");
        });
    }

    @Test
    void storesWhatIsSentByACallbackAfterTheCommitAlthoughWhatWasSentBeforeBelongsToASavepoint() {
        run(shop -> {
            shop.inTransaction(() -> {
                shop.order(1);
                shop.transactions(TransactionDefinition.PROPAGATION_NESTED)
                        .executeWithoutResult(TransactionStatus::setRollbackOnly);
                afterCommit(() -> shop.send(2, Duration.ZERO, null));
                return 0;
            });

            assertThat(List.of(shop.delivered(), shop.delivered()))
                    .containsExactlyInAnyOrder("order 1, rows 1", "order 2, rows 1");
        });
    }

    @Test
    void keepsTransactionsApartThatSuspendEachOtherAfterTheCommit() {
        run(shop -> {
            shop.inTransaction(() -> {
                afterCommit(() -> {
                    shop.send(1, Duration.ofHours(1), null);
                    shop.transactions(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
                            .executeWithoutResult(status -> {
                                shop.send(2, Duration.ofHours(1), null);
                                status.setRollbackOnly();
                            });
                    shop.transactions(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
                            .executeWithoutResult(status -> shop.send(3, Duration.ofHours(1), null));
                    assertThat(shop.stats().waiting()).isEqualTo(1);
                });
                return 0;
            });

            assertThat(shop.stats().waiting()).isEqualTo(2);
        });
    }

    @Test
    void cancelsAfterTheCommitWhatACallbackThereSays() {
        run(shop -> {
            shop.queue.send(OutgoingMessage.of(TOPIC, 1).id("one").after(Duration.ofHours(1)));

            shop.inTransaction(() -> {
                afterCommit(() -> shop.queue.cancelAfterCommit(TOPIC, "one"));
                return 0;
            });

            assertThat(shop.stats().counters().cancelled()).isEqualTo(1);
        });
    }

    @Test
    void storesAfterTheCommitAlthoughACallbackOfAnotherThrowsThere() {
        run(shop -> {
            assertThatThrownBy(() -> shop.inTransaction(() -> {
                        afterCommit(() -> {
                            throw new IllegalStateException("too late");
                        });
                        return shop.order(1, Duration.ZERO, SendPhase.AFTER_COMMIT);
                    }))
                    .hasMessage("too late");

            assertThat(shop.delivered()).isEqualTo("order 1, rows 1");
        });
    }

    private void run(ShopConsumer test) {
        runner.run((AssertableApplicationContext context) -> test.accept(context.getBean(Shop.class)));
    }

    @FunctionalInterface
    private interface ShopConsumer {
        void accept(Shop shop) throws Exception;
    }

    private static void beforeCommit(Runnable action) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void beforeCommit(boolean readOnly) {
                action.run();
            }
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

    @Configuration(proxyBeanMethods = false)
    @EnableQueueAndDatabase
    static class Application {

        @Bean
        Shop shop(
                DelayQueueTemplate queue,
                DelayQueueEngine engine,
                JdbcTemplate database,
                PlatformTransactionManager transactions) {
            return new Shop(queue, engine, database, transactions);
        }
    }

    static class Shop {

        private final DelayQueueTemplate queue;
        private final DelayQueueEngine engine;
        private final JdbcTemplate database;
        private final PlatformTransactionManager manager;
        private final BlockingQueue<String> deliveries = new LinkedBlockingQueue<>();
        private final BlockingQueue<Integer> handled = new LinkedBlockingQueue<>();
        private final Lock transaction = new ReentrantLock();

        Shop(
                DelayQueueTemplate queue,
                DelayQueueEngine engine,
                JdbcTemplate database,
                PlatformTransactionManager manager) {
            this.queue = queue;
            this.engine = engine;
            this.database = database;
            this.manager = manager;
            database.execute("create table orders (id int primary key)");
        }

        /** Reads outside transactions: a message that is due at once may arrive just before the commit. */
        @DelayListener(topic = TOPIC)
        void on(int id) {
            transaction.lock();
            try {
                handled.add(id);
                deliveries.add("order " + id + ", rows " + rows());
            } finally {
                transaction.unlock();
            }
        }

        SendResult order(int id) {
            return order(id, Duration.ZERO, null);
        }

        SendResult order(int id, Duration delay, @Nullable SendPhase phase) {
            database.update("insert into orders values (?)", id);
            return send(id, delay, phase);
        }

        SendResult send(int id, Duration delay, @Nullable SendPhase phase) {
            OutgoingMessage message = OutgoingMessage.of(TOPIC, id).after(delay);
            return queue.send(phase == null ? message : message.phase(phase));
        }

        int rows() {
            Integer rows = database.queryForObject("select count(*) from orders", Integer.class);
            return rows == null ? -1 : rows;
        }

        TopicStats stats() {
            return engine.stats(TOPIC);
        }

        String delivered() throws InterruptedException {
            return String.valueOf(deliveries.poll(20, TimeUnit.SECONDS));
        }

        TransactionTemplate transactions(int propagation) {
            TransactionTemplate template = new TransactionTemplate(manager);
            template.setPropagationBehavior(propagation);
            return template;
        }

        <T> T inTransaction(Supplier<T> work) {
            transaction.lock();
            try {
                return Objects.requireNonNull(
                        transactions(TransactionDefinition.PROPAGATION_REQUIRED).execute(status -> work.get()));
            } finally {
                transaction.unlock();
            }
        }
    }
}
