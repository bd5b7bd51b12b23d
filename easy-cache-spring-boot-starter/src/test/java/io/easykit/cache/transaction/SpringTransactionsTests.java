package io.easykit.cache.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.easykit.cache.Transactions.Completion;
import io.easykit.cache.Transactions.Participant;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

class SpringTransactionsTests {

    private final SpringTransactions transactions = new SpringTransactions(
            new LoadScopes(new ConnectionPools(pool -> null, null), ReadOnlyLoads.SEPARATE),
            new OwnTransactions(() -> null));
    private final List<String> heard = new ArrayList<>();
    private DataSourceTransactionManager manager;
    private DataSourceTransactionManager other;

    @BeforeEach
    void connect() {
        manager = manager("transactions");
        other = manager("other-transactions");
    }

    private static DataSourceTransactionManager manager(String name) {
        JdbcDataSource database = new JdbcDataSource();
        database.setUrl("jdbc:h2:mem:" + name);
        return new DataSourceTransactionManager(database);
    }

    @AfterEach
    void nothingIsLeftBehind() {
        assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
    }

    @Test
    void tellsOfCommit() {
        in(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult(status -> {
            assertThat(transactions.isActive()).isTrue();
            transactions.enlist(participant("a"));
            heard.add("work");
        });
        assertThat(heard).containsExactly("work", "a before commit", "a after completion");
        assertThat(transactions.current()).isNull();
    }

    @Test
    void tellsOfRollback() {
        in(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult(status -> {
            transactions.enlist(participant("a"));
            status.setRollbackOnly();
        });
        assertThat(heard).containsExactly("a rolled back");
        assertThat(transactions.current()).isNull();
    }

    /** The connection is lost in the commit, so the rollback fails as well. */
    @Test
    void tellsThatNobodyKnowsWhetherItWasCommitted() {
        PlatformTransactionManager lost = new DataSourceTransactionManager(loses());
        assertThatThrownBy(() -> in(lost, TransactionDefinition.PROPAGATION_REQUIRED)
                        .executeWithoutResult(status -> transactions.enlist(participant("a"))))
                .isInstanceOf(TransactionSystemException.class);
        assertThat(heard).containsExactly("a before commit", "a unknown");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void tellsWhetherAnInnerTransactionWasCommitted(boolean commits) {
        DataSourceTransactionManager inner = commits ? other : new DataSourceTransactionManager(loses());
        transactions.manages(manager);
        transactions.manages(inner);
        List<Boolean> committed = new ArrayList<>();
        in(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult(status -> {
            transactions.enlist(new Participant() {
                @Override
                public void beforeCommit() {}

                @Override
                public void afterInnerCompletion(Object transaction, boolean certainly) {
                    committed.add(certainly);
                }

                @Override
                public void afterCompletion(Completion completion) {}
            });
            TransactionTemplate template = in(inner, TransactionDefinition.PROPAGATION_REQUIRED);
            Throwable failure = catchThrowable(() -> template.executeWithoutResult(any -> {}));
            assertThat(failure == null).isEqualTo(commits);
        });
        assertThat(committed).containsExactly(commits);
    }

    private static DataSource loses() {
        JdbcDataSource database = new JdbcDataSource();
        database.setUrl("jdbc:h2:mem:lost");
        return new DelegatingDataSource(database) {
            @Override
            public Connection getConnection() throws SQLException {
                Connection open = super.getConnection();
                return (Connection) Proxy.newProxyInstance(
                        Connection.class.getClassLoader(),
                        new Class<?>[] {Connection.class},
                        (proxy, method, arguments) -> {
                            if (Set.of("commit", "rollback").contains(method.getName())) {
                                throw new SQLNonTransientConnectionException("lost", "08006");
                            }
                            return method.invoke(open, arguments);
                        });
            }
        };
    }

    @Test
    void keepsEachTransactionsParticipantApart() {
        in(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult(outer -> {
            Participant a = participant("a");
            transactions.enlist(a);
            in(TransactionDefinition.PROPAGATION_REQUIRES_NEW).executeWithoutResult(inner -> {
                assertThat(transactions.current()).isNull();
                transactions.enlist(participant("b"));
            });
            in(TransactionDefinition.PROPAGATION_NOT_SUPPORTED).executeWithoutResult(none -> {
                assertThat(transactions.isActive()).isFalse();
                assertThat(transactions.current()).isNull();
            });
            assertThat(transactions.current()).isSameAs(a);
        });
        assertThat(heard)
                .containsExactly("b before commit", "b after completion", "a before commit", "a after completion");
    }

    /** Spring takes a {@code TransactionException} of a callback for a failed commit, and rolls nothing back. */
    @Test
    void tellsATransactionThatSpringLeftOpenFromOneThatItRolledBack() {
        failBeforeCommit("a", new IllegalTransactionStateException("of another transaction"));
        failBeforeCommit("b", new IllegalStateException("refused"));
        failBeforeCommit("c", new UnexpectedRollbackException("of another transaction"));

        assertThat(heard)
                .containsExactly(
                        "a before commit",
                        "a left open",
                        "b before commit",
                        "b rolled back",
                        "c before commit",
                        "c left open");
    }

    @Test
    void listenOnceToAManagerThatIsSeveralBeans() {
        transactions.manages(manager);
        transactions.manages(manager);
        assertThat(manager.getTransactionExecutionListeners()).hasSize(1);
    }

    /** Spring does not call the listeners behind one that throws. What stays bound to a thread of a pool would mislead its next work. */
    @Test
    void learnsOfTheEndOfATransactionAlsoIfAnotherListenerFails() {
        manager.addListener(new TransactionExecutionListener() {
            @Override
            public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
                throw new IllegalStateException("no");
            }
        });
        transactions.manages(manager);
        transactions.manages(other);
        in(other, TransactionDefinition.PROPAGATION_REQUIRED)
                .executeWithoutResult(outer ->
                        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                            @Override
                            public void afterCompletion(int status) {
                                assertThatThrownBy(() -> in(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
                                                .executeWithoutResult(inner -> {}))
                                        .hasMessage("no");
                                heard.add("hidden " + transactions.isEndHidden());
                            }
                        }));
        assertThat(heard).containsExactly("hidden false");
    }

    /** The end of an inner transaction removes the mark that one is active, and Spring does not set it again. */
    @ParameterizedTest
    @ValueSource(
            ints = {
                TransactionDefinition.PROPAGATION_REQUIRED,
                TransactionDefinition.PROPAGATION_REQUIRES_NEW,
                TransactionDefinition.PROPAGATION_SUPPORTS
            })
    void knowsAnEndedTransactionAlsoAfterOneInsideItsCallbacks(int propagation) {
        transactions.manages(manager);
        in(TransactionDefinition.PROPAGATION_REQUIRED)
                .executeWithoutResult(outer ->
                        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                            @Override
                            public void afterCompletion(int status) {
                                in(propagation).executeWithoutResult(inner -> {});
                                heard.add("hidden " + transactions.isEndHidden());
                                heard.add("late " + (transactions.lateCommit() != null));
                            }
                        }));
        assertThat(heard).containsExactly("hidden false", "late true");
    }

    /** Open session in view: one session for several transactions, which takes part in one when it is used. */
    @Test
    void takesNoSessionOfAnEarlierTransactionForThatOfAnEndedOne() {
        transactions.manages(manager);
        ResourceHolderSupport session = new ResourceHolderSupport() {};
        TransactionSynchronizationManager.bindResource("session", session);
        try {
            assertThatThrownBy(
                            () -> in(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult(first -> {
                                session.setSynchronizedWithTransaction(true);
                                failBeforeCommit();
                            }))
                    .hasMessage("before the commit");
            session.setSynchronizedWithTransaction(false);

            in(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult(second -> {
                session.setSynchronizedWithTransaction(true);
                assertThat(transactions.lateCommit()).isNull();
                session.setSynchronizedWithTransaction(false);
            });
        } finally {
            TransactionSynchronizationManager.unbindResource("session");
        }
    }

    private static void failBeforeCommit() {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void beforeCommit(boolean readOnly) {
                throw new IllegalStateException("before the commit");
            }
        });
    }

    private void failBeforeCommit(String name, RuntimeException failure) {
        assertThatThrownBy(() -> in(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult(status -> {
                    transactions.enlist(participant(name));
                    TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                        @Override
                        public void beforeCommit(boolean readOnly) {
                            throw failure;
                        }
                    });
                }))
                .isSameAs(failure);
    }

    @Test
    void returnsTheTransactionWhoseCommitIsNext() {
        transactions.manages(manager);
        transactions.manages(other);
        assertThat(transactions.present()).isNull();
        in(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult(outer -> {
            presentShouldBe(outer, manager);
            in(other, TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult(inner -> {
                presentShouldBe(inner, other);
                in(TransactionDefinition.PROPAGATION_REQUIRES_NEW)
                        .executeWithoutResult(innermost -> presentShouldBe(innermost, manager));
                presentShouldBe(inner, other);
                in(other, TransactionDefinition.PROPAGATION_NESTED)
                        .executeWithoutResult(savepoint -> presentShouldBe(inner, other));
            });
            presentShouldBe(outer, manager);
            in(TransactionDefinition.PROPAGATION_NOT_SUPPORTED)
                    .executeWithoutResult(
                            none -> assertThat(transactions.present()).isNull());
            presentShouldBe(outer, manager);
        });
        assertThat(transactions.present()).isNull();
    }

    private void presentShouldBe(TransactionStatus status, PlatformTransactionManager manager) {
        PresentTransaction present = transactions.present();
        assertThat(present).isNotNull();
        assertThat(present.transaction()).isSameAs(status);
        assertThat(present.manager()).isSameAs(manager);
    }

    @Test
    void takesAMereSynchronizationForNoTransaction() {
        in(TransactionDefinition.PROPAGATION_SUPPORTS)
                .executeWithoutResult(
                        status -> assertThat(transactions.isActive()).isFalse());
    }

    @Test
    void knowsHowLongATransactionMayTake() {
        TransactionTemplate limited = in(TransactionDefinition.PROPAGATION_REQUIRED);
        limited.setTimeout(100);
        limited.executeWithoutResult(status ->
                assertThat(transactions.timeout()).isBetween(Duration.ofSeconds(90), Duration.ofSeconds(100)));
        in(TransactionDefinition.PROPAGATION_REQUIRED).executeWithoutResult(status -> assertThat(transactions.timeout())
                .isNull());
    }

    private TransactionTemplate in(int propagation) {
        return in(manager, propagation);
    }

    private static TransactionTemplate in(PlatformTransactionManager manager, int propagation) {
        return new TransactionTemplate(manager, new DefaultTransactionDefinition(propagation));
    }

    private Participant participant(String name) {
        return new Participant() {
            @Override
            public void beforeCommit() {
                assertThat(transactions.current()).isSameAs(this);
                heard.add(name + " before commit");
            }

            @Override
            public void afterCompletion(Completion completion) {
                heard.add(name
                        + switch (completion) {
                            case ROLLED_BACK -> " rolled back";
                            case ENDED -> " after completion";
                            case UNKNOWN -> " unknown";
                            case LEFT_OPEN -> " left open";
                        });
            }
        };
    }
}
