package io.easykit.delayqueue.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.boot.JdbcSchema;
import io.easykit.boot.SchemaMode;
import io.easykit.delayqueue.jdbc.JdbcSendOutbox;
import io.easykit.delayqueue.jdbc.SendOutboxSchema;
import io.easykit.delayqueue.store.SendOutbox.Send;
import io.easykit.delayqueue.store.SendOutbox.Written;
import io.easykit.delayqueue.store.SendOutboxException;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.Transactions.Participant;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PreUpdate;
import jakarta.persistence.Table;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcConnectionPool;
import org.h2.jdbcx.JdbcDataSource;
import org.hibernate.jpa.HibernatePersistenceProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaDialect;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** How participants learn of the end of a transaction whose commit or rollback fails. */
class SpringTransactionsTests {

    private static final Written MESSAGE =
            new Written(new Send("orders", "a", 1, 0, false, 0, null), Bytes.of(new byte[1]));

    private final SpringTransactions transactions = new SpringTransactions();
    private final List<String> heard = new ArrayList<>();
    private final JdbcConnectionPool pool = pool();
    private final FailingDataSource database = new FailingDataSource(pool);
    private final LocalContainerEntityManagerFactoryBean jpa = new LocalContainerEntityManagerFactoryBean();

    @BeforeEach
    void create() {
        JdbcTemplate jdbc = new JdbcTemplate(pool);
        jdbc.execute("create table orders (id int primary key, state varchar(20))");
        jdbc.update("insert into orders values (1, 'new')");
    }

    @AfterEach
    void close() {
        jpa.destroy();
        pool.dispose();
    }

    @Test
    void rollsBackIfACallbackOfJpaFailsTheCommit() {
        assertThatThrownBy(() -> changeOrder(listened(jpa()), "invalid"))
                .isInstanceOf(TransactionSystemException.class)
                .hasRootCauseInstanceOf(InvalidOrderException.class);

        assertThat(heard).containsExactly("before commit", "rolled back");
        assertThat(state()).isEqualTo("new");
    }

    @Test
    void knowsNothingOfACommitThatJpaFailsIfTheManagerDoesNotReport() {
        assertThatThrownBy(() -> changeOrder(jpa(), "invalid")).isInstanceOf(TransactionSystemException.class);

        assertThat(heard).containsExactly("before commit", "unknown");
        assertThat(state()).isEqualTo("new");
    }

    @Test
    void rollsBackWithoutReportsIfTheManagerRollsBackFailedCommits() {
        JpaTransactionManager manager = jpa();
        manager.setRollbackOnCommitFailure(true);

        assertThatThrownBy(() -> changeOrder(manager, "invalid")).isInstanceOf(TransactionSystemException.class);

        assertThat(heard).containsExactly("before commit", "rolled back");
        assertThat(state()).isEqualTo("new");
    }

    @Test
    void rollsBackIfTheDatabaseRefusesAnUpdateInTheFlush() {
        assertThatThrownBy(() -> changeOrder(listened(jpa()), "a state that is too long for its column"))
                .isInstanceOf(RuntimeException.class);

        assertThat(heard).containsExactly("before commit", "rolled back");
        assertThat(state()).isEqualTo("new");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void knowsNothingOfACommitThatGetsNoReplyOfTheDatabase(boolean translates) {
        DataSourceTransactionManager manager =
                translates ? new JdbcTransactionManager(database) : new DataSourceTransactionManager(database);
        database.losesReplies = true;

        assertThatThrownBy(() -> in(listened(manager), () -> setState("paid"))).isInstanceOf(RuntimeException.class);

        assertThat(heard).containsExactly("before commit", "unknown");
        assertThat(state()).isEqualTo("paid");
    }

    @ParameterizedTest
    @ValueSource(strings = {"paid", "invalid"})
    void writesToTheOutboxInTheFlushInsideTheCommitOfJpa(String state) {
        JdbcSendOutbox outbox = outbox();
        JpaTransactionManager manager = listened(jpa());
        Order.onUpdate = () -> outbox.write("me", List.of(MESSAGE));
        try {
            changeOrder(manager, state);
        } catch (TransactionSystemException invalid) {
            assertThat(state).isEqualTo("invalid");
        } finally {
            Order.onUpdate = () -> {};
        }

        assertThat(outbox.rows("me", 0, Set.of(), 100)).hasSize(state.equals("paid") ? 1 : 0);
    }

    private JdbcSendOutbox outbox() {
        SendOutboxSchema schema = new SendOutboxSchema(
                pool,
                new JdbcSchema.Settings("delay-queue.outbox", SchemaMode.ALWAYS, SendOutboxSchema.LOCATION, "h2"));
        schema.setResourceLoader(new DefaultResourceLoader());
        schema.initializeDatabase();
        return new JdbcSendOutbox(database, "dq:", transactions::present);
    }

    /** A message that is sent at once would be delivered, although the transaction around it rolls back. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theEndOfATransactionOfAnotherDataSourceSendsNothingInTheOneAroundIt(boolean afterCommit) {
        JdbcSendOutbox outbox = outbox();
        TransactionTemplate orders = new TransactionTemplate(listened(new DataSourceTransactionManager(database)));
        JdbcConnectionPool elsewhere = pool();
        TransactionTemplate audit = new TransactionTemplate(listened(new DataSourceTransactionManager(elsewhere)));
        List<Throwable> refusals = new ArrayList<>();
        Runnable send = () -> orders.executeWithoutResult(joined -> {
            try {
                boolean unused = outbox.write("me", List.of(MESSAGE));
            } catch (SendOutboxException refused) {
                refusals.add(refused);
            }
        });

        orders.executeWithoutResult(around -> {
            audit.executeWithoutResult(inner ->
                    TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                        @Override
                        public void afterCommit() {
                            if (afterCommit) {
                                send.run();
                            }
                        }

                        @Override
                        public void afterCompletion(int status) {
                            if (!afterCommit) {
                                send.run();
                            }
                        }
                    }));
            around.setRollbackOnly();
        });
        elsewhere.dispose();

        assertThat(refusals).singleElement().asString().contains("nothing was sent");
        assertThat(outbox.rows("me", 0, Set.of(), 100)).isEmpty();
    }

    /** A known limit: Hibernate ends such a transaction, so Spring has nothing to roll back, and reports a rollback. */
    @Test
    void believesSpringThatACommitOfJpaWithoutAReplyIsRolledBack() {
        JpaTransactionManager manager = listened(jpa());
        assertThatThrownBy(() -> in(manager, () -> {
                    order().state = "paid";
                    database.losesReplies = true;
                }))
                .isInstanceOf(RuntimeException.class);

        assertThat(state()).isEqualTo("paid");
        assertThat(heard).containsExactly("before commit", "rolled back");
    }

    @Test
    void rollsBackIfNoCommitComesBeforeARollbackThatFails() {
        database.losesReplies = true;

        assertThatThrownBy(() -> in(listened(new DataSourceTransactionManager(database)), () -> {
                    throw new InvalidOrderException();
                }))
                .isInstanceOf(RuntimeException.class);

        assertThat(heard).containsExactly("rolled back");
    }

    @Test
    void rollsBackIfARollbackFailsAfterACallbackThatRefusesTheCommit() {
        assertThatThrownBy(() -> in(
                        listened(new DataSourceTransactionManager(database)),
                        () -> beforeCommit(() -> {
                            database.losesReplies = true;
                            throw new InvalidOrderException();
                        })))
                .isInstanceOf(RuntimeException.class);

        assertThat(heard).containsExactly("before commit", "rolled back");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void countsAsCommittingFromTheFirstCallbackBeforeTheCommit(boolean isReported) {
        DataSourceTransactionManager manager = new DataSourceTransactionManager(database);
        in(isReported ? listened(manager) : manager, () -> {
            assertThat(transactions.isCommitting()).isEqualTo(!isReported);
            beforeCommit(() -> {
                assertThat(transactions.isCommitting()).isTrue();
                heard.add("checked");
            });
        });

        assertThat(heard).contains("checked");
    }

    @Test
    void rollsBackWhatAFailingFlushHasJoinedIfTheRollbackFails() {
        assertThatThrownBy(() -> in(
                        listened(new DataSourceTransactionManager(database)),
                        () -> beforeCommit(() -> {
                            transactions.join(new Object(), earlier -> new Recorder());
                            database.losesReplies = true;
                            throw new InvalidOrderException();
                        })))
                .isInstanceOf(RuntimeException.class);

        assertThat(heard).containsExactly("before commit", "rolled back", "rolled back");
    }

    @Test
    void knowsNothingOfARollbackThatFailsIfTheManagerDoesNotReport() {
        database.losesReplies = true;

        assertThatThrownBy(() -> in(new DataSourceTransactionManager(database), () -> {
                    throw new InvalidOrderException();
                }))
                .isInstanceOf(RuntimeException.class);

        assertThat(heard).containsExactly("unknown");
    }

    /** The connection commits such a transaction when its auto-commit is switched on again. */
    @Test
    void knowsNothingOfATransactionThatSpringLeavesOpen() {
        for (RuntimeException failure : List.of(
                new IllegalTransactionStateException("of another transaction"),
                new UnexpectedRollbackException("of another transaction"))) {
            heard.clear();
            setState("new");
            assertThatThrownBy(() -> in(listened(new DataSourceTransactionManager(database)), () -> {
                        setState("paid");
                        beforeCommit(() -> {
                            throw failure;
                        });
                    }))
                    .isSameAs(failure);

            assertThat(heard).containsExactly("before commit", "unknown");
            assertThat(state()).isEqualTo("paid");
        }
    }

    /** A known limit: the connection commits such work when its auto-commit is switched on again. */
    @Test
    void knowsNothingOfWorkThatJoinsTheEndOfATransactionForRollbackOnly() {
        DataSourceTransactionManager manager = listened(new DataSourceTransactionManager(database));
        assertThatThrownBy(() -> new TransactionTemplate(manager).executeWithoutResult(outer -> {
                    TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                        @Override
                        public void afterCompletion(int status) {
                            in(manager, () -> setState("paid"));
                        }
                    });
                    new TransactionTemplate(manager).executeWithoutResult(TransactionStatus::setRollbackOnly);
                }))
                .isInstanceOf(UnexpectedRollbackException.class);

        assertThat(heard).containsExactly("unknown");
        assertThat(state()).isEqualTo("paid");
    }

    @Test
    void rollsBackIfAnotherCallbackRefusesTheCommit() {
        assertThatThrownBy(() -> in(listened(new DataSourceTransactionManager(database)), () -> {
                    setState("paid");
                    beforeCommit(() -> {
                        throw new InvalidOrderException();
                    });
                }))
                .isInstanceOf(InvalidOrderException.class);

        assertThat(heard).containsExactly("before commit", "rolled back");
        assertThat(state()).isEqualTo("new");
    }

    @Test
    void keepsTheOutcomesOfTransactionsApartThatAnotherCallbackBegins() {
        JpaTransactionManager manager = listened(jpa());
        assertThatThrownBy(() -> in(manager, () -> {
                    order().state = "invalid";
                    TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                        @Override
                        public void afterCompletion(int status) {
                            in(listened(new DataSourceTransactionManager(pool)), () -> setState("paid"));
                        }
                    });
                }))
                .isInstanceOf(TransactionSystemException.class);

        assertThat(heard).containsExactly("before commit", "before commit", "committed", "rolled back");
    }

    /** Spring does not call the listeners behind one that throws. */
    @Test
    void rollsBackIfAListenerThatWasThereBeforeFailsAfterTheCommit() {
        JpaTransactionManager manager = failingAfterTheEnd(jpa());
        new TransactionListenerProcessor(() -> transactions).postProcessAfterInitialization(manager, "manager");

        assertThatThrownBy(() -> changeOrder(manager, "invalid")).hasMessage("of another listener");

        assertThat(heard).containsExactly("before commit", "rolled back");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void keepsNothingOfATransactionWhoseEndIsNotReported(boolean losesReply) {
        DataSourceTransactionManager manager = listened(failingAfterTheEnd(new DataSourceTransactionManager(database)));
        database.losesReplies = losesReply;
        List<WeakReference<Object>> parts = new ArrayList<>();

        assertThatThrownBy(() -> new TransactionTemplate(manager).executeWithoutResult(status -> {
                    parts.add(new WeakReference<>(status));
                    parts.add(new WeakReference<>(joined()));
                }))
                .hasMessage("of another listener");

        DataSourceTransactionManager later = listened(new DataSourceTransactionManager(pool));
        await().until(() -> {
            System.gc();
            in(later, () -> {}); // removes the entries of collected transactions
            return parts.stream().allMatch(part -> part.get() == null);
        });
        assertThat(parts).hasSize(2);
    }

    private Object joined() {
        return transactions.join(new Object(), earlier -> new Recorder()).orElseThrow();
    }

    private static <M extends AbstractPlatformTransactionManager> M failingAfterTheEnd(M manager) {
        manager.addListener(new TransactionExecutionListener() {
            @Override
            public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
                throw new IllegalStateException("of another listener");
            }

            @Override
            public void afterRollback(TransactionExecution transaction, @Nullable Throwable rollbackFailure) {
                throw new IllegalStateException("of another listener");
            }
        });
        return manager;
    }

    private void changeOrder(AbstractPlatformTransactionManager manager, String state) {
        in(manager, () -> order().state = state);
    }

    private Order order() {
        EntityManager entities =
                EntityManagerFactoryUtils.getTransactionalEntityManager(Objects.requireNonNull(jpa.getObject()));
        return Objects.requireNonNull(entities).find(Order.class, 1);
    }

    private void in(AbstractPlatformTransactionManager manager, Runnable work) {
        new TransactionTemplate(manager).executeWithoutResult(status -> {
            transactions.join(new Object(), earlier -> new Recorder());
            work.run();
        });
    }

    private <M extends AbstractPlatformTransactionManager> M listened(M manager) {
        manager.addListener(transactions.listener());
        return manager;
    }

    private JpaTransactionManager jpa() {
        jpa.setDataSource(database);
        jpa.setPersistenceProviderClass(HibernatePersistenceProvider.class);
        jpa.setJpaDialect(new HibernateJpaDialect());
        jpa.setManagedTypes(PersistenceManagedTypes.of(Order.class.getName()));
        jpa.afterPropertiesSet();
        EntityManagerFactory factory = Objects.requireNonNull(jpa.getObject());
        return new JpaTransactionManager(factory);
    }

    private void setState(String state) {
        new JdbcTemplate(database).update("update orders set state = ?", state);
    }

    private String state() {
        return String.valueOf(new JdbcTemplate(pool).queryForObject("select state from orders", String.class));
    }

    private static void beforeCommit(Runnable action) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void beforeCommit(boolean readOnly) {
                action.run();
            }
        });
    }

    private static JdbcConnectionPool pool() {
        JdbcDataSource source = new JdbcDataSource();
        source.setUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        return JdbcConnectionPool.create(source);
    }

    private final class Recorder implements Participant {

        @Override
        public void beforeCommit() {
            heard.add("before commit");
        }

        @Override
        public void afterCommit() {
            heard.add("committed");
        }

        @Override
        public void afterRollback() {
            heard.add("rolled back");
        }

        @Override
        public void afterUnknownOutcome() {
            heard.add("unknown");
        }
    }

    private static final class InvalidOrderException extends RuntimeException {

        private static final long serialVersionUID = 1L;
    }

    @Entity
    @Table(name = "orders")
    static class Order {

        static Runnable onUpdate = () -> {};

        @Id
        int id;

        String state = "";

        @PreUpdate
        void validate() {
            onUpdate.run();
            if (state.equals("invalid")) {
                throw new InvalidOrderException();
            }
        }
    }

    /** Commits and rolls back, but may lose the reply. */
    private static final class FailingDataSource extends DelegatingDataSource {

        private boolean losesReplies;

        FailingDataSource(DataSource source) {
            super(source);
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            return (Connection) Proxy.newProxyInstance(
                    Connection.class.getClassLoader(),
                    new Class<?>[] {Connection.class},
                    (proxy, method, arguments) -> {
                        try {
                            Object result = method.invoke(connection, arguments);
                            if (losesReplies && List.of("commit", "rollback").contains(method.getName())) {
                                throw new SQLException("Connection reset", "08006");
                            }
                            return result;
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }
    }
}
