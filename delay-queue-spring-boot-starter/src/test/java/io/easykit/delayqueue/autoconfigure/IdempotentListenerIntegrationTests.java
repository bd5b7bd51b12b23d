package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.mock;

import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.DelayListenerInterceptor;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.IdempotencyStore;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.jdbc.JdbcIdempotencyStore;
import io.easykit.test.RedisServer;
import io.easykit.test.StartFailure;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** Idempotent listeners of an application, with the example of {@code docs/delay-queue/idempotency.md}. */
class IdempotentListenerIntegrationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withUserConfiguration(Application.class)
            .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
            .withPropertyValues(
                    "spring.data.redis.url=" + RedisServer.shared().uri(),
                    "delay-queue.command-timeout=2s",
                    "delay-queue.defaults.back-off.delay=20ms",
                    "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID());

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    @Test
    void chargesOnceAlthoughTheMessageIsDeliveredAgain() {
        runner.withBean(FailsAfterTheCommit.class)
                .withUserConfiguration(Shop.class)
                .run(context -> {
                    send(context, "charge", "order-1");

                    awaitEmpty(context, "charge");
                    assertThat(charges(context)).containsExactly("order-1");
                    assertThat(context.getBean(FailsAfterTheCommit.class).calls).hasValue(2);
                    assertThat(repeated(context, "charge")).isEqualTo(1);
                    assertThat(records(context)).isEqualTo(1);
                });
    }

    @Test
    void rollsBackTheRecordWithTheEffect() {
        runner.withUserConfiguration(Shop.class).run(context -> {
            context.getBean(Charges.class).failFirst(2);

            send(context, "charge", "order-1");

            awaitEmpty(context, "charge");
            assertThat(charges(context)).containsExactly("order-1");
            assertThat(context.getBean(Charges.class).runs()).isEqualTo(3);
            assertThat(records(context)).isEqualTo(1);
            assertThat(repeated(context, "charge")).isZero();
        });
    }

    @Test
    void chargesAgainIfTheSameIdIsSentAgain() {
        runner.withUserConfiguration(Shop.class).run(context -> {
            for (int i = 1; i <= 2; i++) {
                int times = i;
                context.getBean(DelayQueueTemplate.class)
                        .send(OutgoingMessage.of("charge", "order-1").id("order-1"));
                await().untilAsserted(() -> assertThat(charges(context)).hasSize(times));
                awaitEmpty(context, "charge");
            }

            assertThat(records(context)).isEqualTo(2);
        });
    }

    /** A checked exception commits the transaction of @Transactional, but not that of the record. */
    @Test
    void rollsBackAfterACheckedException() {
        runner.withUserConfiguration(Shop.class).run(context -> {
            context.getBean(Charges.class).failFirst(-1);

            send(context, "charge", "order-1");

            await().untilAsserted(() -> assertThat(context.getBean(DelayQueueEngine.class)
                            .stats("charge")
                            .dead())
                    .isEqualTo(1));
            assertThat(charges(context)).isEmpty();
            assertThat(records(context)).isZero();
        });
    }

    @Test
    void isSwitchedOnAndOffByTheSettingsOfATopic() {
        runner.withBean(FailsAfterTheCommit.class)
                .withUserConfiguration(Shop.class)
                .withPropertyValues(
                        "delay-queue.topics.charge.idempotent=false", "delay-queue.topics.plain.idempotent=true")
                .run(context -> {
                    send(context, "charge", "order-1");
                    awaitEmpty(context, "charge");
                    assertThat(charges(context)).containsExactly("order-1", "order-1");

                    send(context, "plain", "order-2");
                    awaitEmpty(context, "plain");
                    assertThat(charges(context)).containsExactly("order-1", "order-1", "order-2");
                    assertThat(repeated(context, "plain")).isEqualTo(1);
                });
    }

    @Test
    void leavesAnApplicationWithoutSuchListenersAsItIs() {
        runner.run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBeanFactory().containsSingleton("delayQueueIdempotencyStore"))
                    .isFalse();
            assertThat(tables(context.getBean(DataSource.class))).isZero();
        });
    }

    @Test
    void takesTheDataSourceAndTheTransactionManagerThatAreChosen() {
        runner.withUserConfiguration(TwoDatabases.class)
                .withBean(Counting.class)
                .withPropertyValues("delay-queue.idempotency.transaction-manager=ordersTransactions")
                .run(context -> {
                    send(context, "count", "x");

                    awaitEmpty(context, "count");
                    assertThat(tables(context.getBean("orders", DataSource.class)))
                            .isEqualTo(1);
                    assertThat(tables(context.getBean("other", DataSource.class)))
                            .isZero();
                });
    }

    @Test
    void takesAStoreOfTheApplication() {
        List<String> keys = new CopyOnWriteArrayList<>();
        IdempotencyStore own = (topic, uniqueId, handler) -> {
            keys.add(uniqueId);
            return false;
        };
        runner.withBean(IdempotencyStore.class, () -> own)
                .withUserConfiguration(Shop.class)
                .run(context -> {
                    assertThat(context).doesNotHaveBean(JdbcIdempotencyStore.class);
                    send(context, "charge", "order-1");

                    awaitEmpty(context, "charge");
                    assertThat(keys).hasSize(1);
                    assertThat(charges(context)).isEmpty();
                });
    }

    @Test
    void refusesWhatCannotRunOnce() {
        refuses(runner.withBean(Batches.class), "it is idempotent, and takes batches", "Remove batchSize");
        refuses(runner.withBean(Manual.class), "has an Acknowledgment parameter", "return to acknowledge");
        refuses(runner.withBean(Apart.class), "the propagation REQUIRES_NEW", "Remove the propagation");
    }

    @Test
    void refusesToStartWithoutADatabase() {
        refuses(
                runner.withBean(Counting.class)
                        .withClassLoader(
                                new FilteredClassLoader("org.springframework.jdbc", "org.springframework.boot.jdbc")),
                "there is no IdempotencyStore bean",
                "spring-boot-starter-jdbc");
    }

    @Test
    void refusesToGuess() {
        refuses(
                runner.withUserConfiguration(TwoDatabases.class).withBean(Counting.class),
                "several PlatformTransactionManager beans",
                "Set delay-queue.idempotency.transaction-manager");
        refuses(
                runner.withUserConfiguration(TwoDatabases.class)
                        .withBean(Counting.class)
                        .withPropertyValues("delay-queue.idempotency.transaction-manager=missing"),
                "delay-queue.idempotency.transaction-manager is 'missing'",
                "Name the one whose transactions");
        refuses(
                runner.withUserConfiguration(TwoDatabases.class)
                        .withBean(Counting.class)
                        .withPropertyValues("delay-queue.idempotency.transaction-manager=otherTransactions"),
                "does not manage the transactions of the DataSource",
                "Set delay-queue.idempotency.transaction-manager");
        refuses(
                runner.withUserConfiguration(Unqualified.class).withBean(Counting.class),
                "several DataSources for the records",
                "Put @DelayQueueDataSource");
    }

    @Test
    void refusesAReactiveTransactionManager() {
        refuses(
                runner.withUserConfiguration(Reactive.class).withBean(Counting.class),
                "no PlatformTransactionManager bean",
                "a reactive transaction manager cannot be used",
                "JdbcTransactionManager");
    }

    @Test
    void refusesToStartWithoutTheTable() {
        refuses(
                runner.withBean(Counting.class).withPropertyValues("delay-queue.idempotency.initialize-schema=never"),
                "the table delay_queue_handled cannot be used",
                "Set delay-queue.idempotency.initialize-schema to always");
    }

    @Test
    void refusesADatabaseThatTakesNoWrites(@TempDir Path directory) {
        String url = "jdbc:h2:file:" + directory.resolve("shop");
        JdbcClient.create(new DriverManagerDataSource(url, "sa", ""))
                .sql("runscript from 'classpath:io/easykit/delayqueue/jdbc/idempotency-h2.sql'")
                .update();
        refuses(
                runner.withBean(Counting.class)
                        .withPropertyValues(
                                "delay-queue.idempotency.initialize-schema=never",
                                "spring.datasource.username=sa",
                                "spring.datasource.url=" + url + ";ACCESS_MODE_DATA=r"),
                "the table delay_queue_handled cannot be used",
                "The database accepts no writes");
    }

    @Test
    void refusesARetentionThatIsShorterThanTheNextDelivery() {
        refuses(
                runner.withBean(Counting.class)
                        .withPropertyValues(
                                "delay-queue.idempotency.retention=5m", "delay-queue.defaults.lease-expired-delay=5m"),
                "a handled message may come again for 28m",
                "its record is kept for 5m",
                "delay-queue.defaults");
    }

    @Test
    void startsWithoutTheDatabase() {
        runner.withBean(Counting.class)
                .withPropertyValues(
                        "spring.datasource.url=jdbc:h2:tcp://127.0.0.1:1/none",
                        "spring.datasource.hikari.connection-timeout=250")
                .run(context -> assertThat(context).hasNotFailed());
    }

    private static void send(AssertableApplicationContext context, String topic, String order) {
        context.getBean(DelayQueueTemplate.class).send(topic, order, Duration.ZERO);
    }

    private static void awaitEmpty(AssertableApplicationContext context, String topic) {
        DelayQueueEngine engine = context.getBean(DelayQueueEngine.class);
        await().atMost(Duration.ofSeconds(30))
                .until(() -> engine.stats(topic).counters().acknowledged()
                        == engine.stats(topic).counters().sent());
    }

    private static List<String> charges(AssertableApplicationContext context) {
        return context.getBean(JdbcClient.class)
                .sql("select order_id from charges")
                .query(String.class)
                .list();
    }

    private static int records(AssertableApplicationContext context) {
        return context.getBean(JdbcClient.class)
                .sql("select count(*) from delay_queue_handled")
                .query(Integer.class)
                .single();
    }

    private static double repeated(AssertableApplicationContext context, String topic) {
        return context.getBean(MeterRegistry.class)
                .get("delayqueue.repeated")
                .tag("topic", topic)
                .counter()
                .count();
    }

    private static int tables(DataSource dataSource) {
        return JdbcClient.create(dataSource)
                .sql("select count(*) from information_schema.tables where lower(table_name) = 'delay_queue_handled'")
                .query(Integer.class)
                .single();
    }

    private static void refuses(ApplicationContextRunner runner, String... parts) {
        runner.run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = StartFailure.analysis(context.getStartupFailure());
            assertThat(analysis.getDescription() + " | " + analysis.getAction()).contains(parts);
        });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableQueueAndDatabase
    static class Application {}

    @Configuration(proxyBeanMethods = false)
    static class Shop {

        @Bean
        Charges charges(JdbcClient jdbc) {
            jdbc.sql("create table charges (order_id varchar(50))").update();
            return new Charges(jdbc);
        }

        @Bean
        Plain plain(JdbcClient jdbc) {
            return new Plain(jdbc);
        }
    }

    static class Charges {

        private final JdbcClient jdbc;
        private final AtomicInteger failures = new AtomicInteger();
        private final AtomicInteger runs = new AtomicInteger();

        Charges(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        /** @param times less than zero for a checked exception each time */
        void failFirst(int times) {
            failures.set(times);
        }

        int runs() {
            return runs.get();
        }

        @DelayListener(topic = "charge", idempotent = true)
        @Transactional
        public void charge(String order) throws IOException {
            jdbc.sql("insert into charges values (?)").param(order).update();
            if (runs.incrementAndGet() <= failures.get()) {
                throw new IllegalStateException("no stock");
            }
            if (failures.get() < 0) {
                throw new IOException("checked");
            }
        }
    }

    static class Plain {

        private final JdbcClient jdbc;

        Plain(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @DelayListener(topic = "plain")
        void charge(String order) {
            jdbc.sql("insert into charges values (?)").param(order).update();
        }
    }

    /** The first run of each message fails after the commit, as if its acknowledgement were lost. */
    static class FailsAfterTheCommit implements DelayListenerInterceptor {

        final AtomicInteger calls = new AtomicInteger();

        @Override
        public void handle(
                ListenerEndpoint endpoint, List<DelayMessage<Object>> messages, MessageHandler.Batch<Object> handler)
                throws Exception {
            calls.incrementAndGet();
            handler.handle(messages);
            if (messages.get(0).failures() == 0) {
                throw new IllegalStateException("after the commit");
            }
        }
    }

    static class Counting implements DelayQueueListener {

        final AtomicInteger runs = new AtomicInteger();
        final List<DelayQueueEvent.Repeated> repeated = new CopyOnWriteArrayList<>();

        @DelayListener(topic = "count", idempotent = true)
        void on(String message) {
            runs.incrementAndGet();
        }

        @Override
        public void onRepeated(DelayQueueEvent.Repeated event) {
            repeated.add(event);
        }
    }

    static class Batches {
        @DelayListener(topic = "batches", idempotent = true, batchSize = "10")
        void on(List<String> messages) {}
    }

    static class Manual {
        @DelayListener(topic = "manual", idempotent = true)
        void on(String message, Acknowledgment acknowledgment) {}
    }

    static class Apart {
        @DelayListener(topic = "apart", idempotent = true)
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public void on(String message) {}
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoDatabases {

        @Bean
        @DelayQueueDataSource
        DataSource orders() {
            return database();
        }

        @Bean
        DataSource other() {
            return database();
        }

        @Bean
        PlatformTransactionManager ordersTransactions(@DelayQueueDataSource DataSource orders) {
            return new JdbcTransactionManager(orders);
        }

        @Bean
        PlatformTransactionManager otherTransactions() {
            return new JdbcTransactionManager(database());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Unqualified {

        @Bean
        DataSource one() {
            return database();
        }

        @Bean
        DataSource another() {
            return database();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Reactive {

        @Bean
        ReactiveTransactionManager reactive() {
            return mock(ReactiveTransactionManager.class);
        }
    }

    private static DataSource database() {
        JdbcDataSource source = new JdbcDataSource();
        source.setUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        return source;
    }
}
