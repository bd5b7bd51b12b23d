package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.IdempotencyStore;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.test.RedisServer;
import io.easykit.test.StartFailure;
import jakarta.transaction.Transactional.TxType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.UUID;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.TransactionManagementConfigurer;
import org.springframework.transaction.annotation.Transactional;

/** The transaction of an idempotent listener is that of its record, or the start fails. */
class IdempotentTransactionIntegrationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withUserConfiguration(TwoDatabases.class)
            .withPropertyValues(
                    "spring.data.redis.url=" + RedisServer.shared().uri(),
                    "delay-queue.command-timeout=2s",
                    "manager=ordersTransactions");

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    @ParameterizedTest
    @ValueSource(classes = {OfTheMethod.class, OfTheClass.class, OfAPlaceholder.class, OfAComposed.class, Child.class})
    void refusesAnotherTransactionManager(Class<?> listener) {
        refuses(
                runner.withBean(listener),
                listener,
                "@Transactional uses another transaction manager than the store of its records",
                "delay-queue.idempotency.transaction-manager");
    }

    @Test
    void refusesTheDefaultTransactionManagerIfTheStoreHasAnother() {
        ApplicationContextRunner orders =
                runner.withPropertyValues("delay-queue.idempotency.transaction-manager=ordersTransactions");
        String problem = "@Transactional uses another transaction manager than the store of its records";
        refuses(
                orders.withUserConfiguration(OrdersAreQualified.class).withBean(Plain.class),
                Plain.class,
                problem,
                "Name the transaction manager of the store");
        refuses(
                runner.withUserConfiguration(OrdersByDefault.class).withBean(Plain.class),
                Plain.class,
                problem,
                "Name the transaction manager of the store");
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                JakartaMethod.class,
                JakartaClass.class,
                JakartaNotSupported.class,
                JakartaNever.class,
                SpringClass.class,
                SpringInterface.class
            })
    void refusesATransactionOfItsOwn(Class<?> listener) {
        refuses(runner.withBean(listener), listener, "with the propagation ", "Remove the propagation");
    }

    @ParameterizedTest
    @ValueSource(classes = {Plain.class, OfTheStore.class, OfTheSameDataSource.class, Jakarta.class, Joins.class})
    void takesATransactionThatJoins(Class<?> listener) {
        runner.withBean(listener).run(context -> {
            context.getBean(DelayQueueTemplate.class).send("orders", "1", Duration.ZERO);

            DelayQueueEngine engine = context.getBean(DelayQueueEngine.class);
            Awaitility.await().untilAsserted(() -> assertThat(
                            engine.stats("orders").counters().acknowledged())
                    .isEqualTo(1));
        });
    }

    @Test
    void doesNotKnowTheTransactionManagerOfAnotherStore() {
        IdempotencyStore own = (topic, uniqueId, handler) -> false;
        runner.withBean(IdempotencyStore.class, () -> own)
                .withBean(OfTheMethod.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    private static void refuses(ApplicationContextRunner runner, Class<?> listener, String... parts) {
        runner.run(context -> {
            assertThat(context).hasFailed();
            FailureAnalysis analysis = StartFailure.analysis(context.getStartupFailure());
            assertThat(analysis.getDescription() + " | " + analysis.getAction())
                    .contains(listener.getName() + ".on(", "it is idempotent")
                    .contains(parts);
        });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableQueueAndDatabase
    static class TwoDatabases {

        @Bean
        @Primary
        DataSource main() {
            return database();
        }

        @Bean
        DataSource orders() {
            return database();
        }

        @Bean
        @Primary
        PlatformTransactionManager mainTransactions(DataSource main) {
            return new JdbcTransactionManager(main);
        }

        @Bean
        PlatformTransactionManager alsoMainTransactions(DataSource main) {
            return new JdbcTransactionManager(main);
        }

        @Bean
        PlatformTransactionManager ordersTransactions(@Qualifier("orders") DataSource orders) {
            return new JdbcTransactionManager(orders);
        }

        private static DataSource database() {
            JdbcDataSource source = new JdbcDataSource();
            source.setUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
            return source;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OrdersAreQualified {

        @Bean
        @DelayQueueDataSource
        DataSource qualified(@Qualifier("orders") DataSource orders) {
            return orders;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class OrdersByDefault {

        @Bean
        TransactionManagementConfigurer ordersByDefault(
                @Qualifier("ordersTransactions") TransactionManager ordersTransactions) {
            return () -> ordersTransactions;
        }
    }

    static class OfTheMethod {
        @DelayListener(topic = "orders", idempotent = true)
        @Transactional("ordersTransactions")
        public void on(String order) {}
    }

    @Transactional(transactionManager = "ordersTransactions")
    static class OfTheClass {
        @DelayListener(topic = "orders", idempotent = true)
        public void on(String order) {}
    }

    static class OfAPlaceholder {
        @DelayListener(topic = "orders", idempotent = true)
        @Transactional("${manager}")
        public void on(String order) {}
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Transactional("ordersTransactions")
    @interface InOrders {}

    static class OfAComposed {
        @DelayListener(topic = "orders", idempotent = true)
        @InOrders
        public void on(String order) {}
    }

    static class Child extends OfTheMethod {}

    static class Plain {
        @DelayListener(topic = "orders", idempotent = true)
        @Transactional
        public void on(String order) {}
    }

    static class OfTheStore {
        @DelayListener(topic = "orders", idempotent = true)
        @Transactional("mainTransactions")
        public void on(String order) {}
    }

    static class OfTheSameDataSource {
        @DelayListener(topic = "orders", idempotent = true)
        @Transactional("alsoMainTransactions")
        public void on(String order) {}
    }

    static class Joins {
        @DelayListener(topic = "orders", idempotent = true)
        @Transactional(propagation = Propagation.MANDATORY)
        public void on(String order) {}
    }

    static class Jakarta {
        @DelayListener(topic = "orders", idempotent = true)
        @jakarta.transaction.Transactional
        public void on(String order) {}
    }

    static class JakartaMethod {
        @DelayListener(topic = "orders", idempotent = true)
        @jakarta.transaction.Transactional(TxType.REQUIRES_NEW)
        public void on(String order) {}
    }

    @jakarta.transaction.Transactional(TxType.REQUIRES_NEW)
    static class JakartaClass {
        @DelayListener(topic = "orders", idempotent = true)
        public void on(String order) {}
    }

    static class JakartaNotSupported {
        @DelayListener(topic = "orders", idempotent = true)
        @jakarta.transaction.Transactional(TxType.NOT_SUPPORTED)
        void on(String order) {}
    }

    static class JakartaNever {
        @DelayListener(topic = "orders", idempotent = true)
        @jakarta.transaction.Transactional(TxType.NEVER)
        public void on(String order) {}
    }

    @Transactional(propagation = Propagation.NOT_SUPPORTED)
    static class SpringClass {
        @DelayListener(topic = "orders", idempotent = true)
        public void on(String order) {}
    }

    interface Apart {
        @Transactional(propagation = Propagation.NEVER)
        void on(String order);
    }

    static class SpringInterface implements Apart {
        @Override
        @DelayListener(topic = "orders", idempotent = true)
        public void on(String order) {}
    }
}
