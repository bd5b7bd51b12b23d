package io.easykit.cache.transaction;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.LoadScope;
import io.easykit.cache.Loader;
import io.easykit.cache.Transactions.Completion;
import io.easykit.cache.Transactions.Participant;
import io.easykit.cache.transaction.ConnectionPools.Pool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.SimpleTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

class LoadScopesTests {

    private final AtomicInteger inUse = new AtomicInteger();
    private final SpringTransactions transactions = transactions(ReadOnlyLoads.SEPARATE, 4, null);
    private final DataSourceTransactionManager manager = manager("one");
    private final List<String> heard = new ArrayList<>();

    @AfterEach
    void nothingIsLeftBehind() {
        assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
        assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isFalse();
        assertThat(TransactionSynchronizationManager.isActualTransactionActive())
                .isFalse();
    }

    @Test
    void isDirectWhereNothingIsBound() {
        assertThat(transactions.openLoadScope()).isSameAs(LoadScope.DIRECT);
    }

    @Test
    void takesEverythingOffTheThreadForALoadAndPutsItBack() {
        readOnly(manager, () -> {
            TransactionSynchronizationManager.registerSynchronization(heard());
            TransactionSynchronizationManager.bindResource("tenant", "of the thread, and no holder");
            Map<Object, Object> bound = Map.copyOf(TransactionSynchronizationManager.getResourceMap());
            try (LoadScope scope = transactions.openLoadScope()) {
                assertThat(scope.attachedReason()).isNull();
                for (int load = 0; load < 2; load++) {
                    assertThat(scope.<Boolean, RuntimeException>run(() -> {
                                assertThat(TransactionSynchronizationManager.getResourceMap())
                                        .containsOnlyKeys("tenant");
                                assertThat(TransactionSynchronizationManager.isSynchronizationActive())
                                        .isFalse();
                                assertThat(TransactionSynchronizationManager.isActualTransactionActive())
                                        .isFalse();
                                assertThat(TransactionSynchronizationManager.isCurrentTransactionReadOnly())
                                        .isFalse();
                                assertThat(TransactionSynchronizationManager.getCurrentTransactionName())
                                        .isNull();
                                assertThat(TransactionSynchronizationManager.getCurrentTransactionIsolationLevel())
                                        .isNull();
                                return true;
                            }))
                            .isTrue();
                }
                assertThatThrownBy(() -> scope.run(() -> {
                            throw new IllegalStateException("load");
                        }))
                        .hasMessage("load");
            }
            assertThat(TransactionSynchronizationManager.getResourceMap()).isEqualTo(bound);
            assertThat(TransactionSynchronizationManager.isActualTransactionActive())
                    .isTrue();
            assertThat(TransactionSynchronizationManager.isCurrentTransactionReadOnly())
                    .isTrue();
            assertThat(TransactionSynchronizationManager.getCurrentTransactionName())
                    .isEqualTo("facade");
            TransactionSynchronizationManager.unbindResource("tenant");
        });
        assertThat(heard)
                .containsExactly("suspend", "resume", "suspend", "resume", "suspend", "resume", "before commit", "end");
    }

    @Test
    void givesALoadAReadOnlyTransactionOfItsOwnWhereItsCallerHasOne() {
        transactions.manages(manager("idle"));
        transactions.manages(manager);
        readOnly(manager, () -> {
            Object callers = TransactionSynchronizationManager.getResource(manager.getResourceFactory());
            String seen = loaded(() -> {
                assertThat(TransactionSynchronizationManager.getResource(manager.getResourceFactory()))
                        .isNotNull()
                        .isNotSameAs(callers);
                TransactionSynchronizationManager.registerSynchronization(heard());
                return TransactionSynchronizationManager.isActualTransactionActive()
                        + " "
                        + TransactionSynchronizationManager.isCurrentTransactionReadOnly()
                        + " "
                        + TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
            });
            assertThat(seen).isEqualTo("true true " + TransactionDefinition.ISOLATION_READ_COMMITTED);
            assertThat(heard).containsExactly("before commit", "end");
            assertThat(TransactionSynchronizationManager.getResource(manager.getResourceFactory()))
                    .isSameAs(callers);
        });
    }

    /** The connection of the outer transaction stays bound. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void givesALoadATransactionOfTheManagerWhoseTransactionIsThePresentOne(boolean outerFirst) {
        DataSourceTransactionManager outer = manager("outer");
        transactions.manages(outerFirst ? outer : manager);
        transactions.manages(outerFirst ? manager : outer);
        new TransactionTemplate(outer)
                .executeWithoutResult(status -> readOnly(manager, () -> assertThat(
                                loaded(() -> TransactionSynchronizationManager.hasResource(manager.getResourceFactory())
                                        + " "
                                        + TransactionSynchronizationManager.hasResource(outer.getResourceFactory())))
                        .isEqualTo("true false")));
    }

    @Test
    void neverLoadsWhatNobodyHasCommitted() {
        transactions.manages(manager);
        DefaultTransactionDefinition dirty = new DefaultTransactionDefinition();
        dirty.setReadOnly(true);
        dirty.setIsolationLevel(TransactionDefinition.ISOLATION_READ_UNCOMMITTED);
        new TransactionTemplate(manager, dirty).executeWithoutResult(status -> assertThat(loaded(
                        () -> String.valueOf(TransactionSynchronizationManager.getCurrentTransactionIsolationLevel())))
                .isEqualTo("null"));
    }

    @Test
    void givesTheCallerWhatItsLoadThrowsOrReturnsHoweverItsTransactionEnds() {
        transactions.manages(manager);
        readOnly(manager, () -> {
            Exception thrown = new IllegalStateException("load");
            assertThatThrownBy(() -> loaded(() -> {
                        TransactionSynchronizationManager.registerSynchronization(heard());
                        throw thrown;
                    }))
                    .isSameAs(thrown);
            assertThat(heard).containsExactly("end");
            assertThat(loaded(() -> {
                        DefaultTransactionDefinition part = new DefaultTransactionDefinition();
                        new TransactionTemplate(manager, part).executeWithoutResult(TransactionStatus::setRollbackOnly);
                        return "value";
                    }))
                    .isEqualTo("value");
        });
    }

    private String loaded(Callable<String> load) {
        try (LoadScope scope = transactions.openLoadScope()) {
            Loader<String, Exception> loader = scope.around(load::call);
            return requireNonNull(scope.run(loader::load));
        } catch (RuntimeException | Error failure) {
            throw failure;
        } catch (Exception impossible) {
            throw new AssertionError(impossible);
        }
    }

    @Test
    void putsBackWhatItHasTakenOffWhenASynchronizationFailsToSuspend() {
        readOnly(manager, () -> {
            TransactionSynchronizationManager.registerSynchronization(heard());
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void suspend() {
                    throw new IllegalStateException("cannot be suspended");
                }
            });
            try (LoadScope scope = transactions.openLoadScope()) {
                assertThatThrownBy(() -> scope.run(() -> "never")).hasMessage("cannot be suspended");
            }
            assertThat(transactions.isActive()).isTrue();
        });
        assertThat(heard).containsExactly("suspend", "resume", "before commit", "end");
    }

    @Test
    void staysAttachedToWhatMayHaveWrittenOrCannotBeSuspended() {
        new TransactionTemplate(manager)
                .executeWithoutResult(status -> shouldBeAttached(transactions, "inside a read-write transaction"));
        readOnly(
                manager,
                () -> shouldBeAttached(
                        transactions(ReadOnlyLoads.ATTACHED, 4, null), "easy-cache.transactions.read-only-loads"));
        readOnly(manager, () -> {
            transactions.enlist(participant());
            shouldBeAttached(transactions, "inside a read-write transaction");
        });
        DataSourceTransactionManager second = manager("two");
        transactions.manages(second);
        readOnly(manager, () -> new TransactionTemplate(second)
                .executeWithoutResult(status -> shouldBeAttached(transactions, "inside a read-write transaction")));

        transactions.manages(manager);
        readOnly(manager, () -> assertThat(reason(transactions)).isNull());
        transactions.manages(new ForeignTransactionManager());
        readOnly(manager, () -> shouldBeAttached(transactions, "as with JTA"));
    }

    @Test
    void staysAttachedInsideATransactionThatIsNotSynchronized() {
        manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
        readOnly(manager, () -> shouldBeAttached(transactions, "does not report its end"));
    }

    @Test
    void takesAtMostHalfOfTheConnectionsOfAPool() {
        readOnly(manager, () -> {
            LoadScope first = transactions.openLoadScope();
            LoadScope second = transactions.openLoadScope();
            assertThat(second.attachedReason()).isNull();
            shouldBeAttached(transactions, "no further one was free");
            first.close();
            assertThat(reason(transactions)).isNull();
            second.close();
        });
    }

    @Test
    void takesNoneOfAPoolThatIsExhausted() {
        inUse.set(4);
        readOnly(manager, () -> shouldBeAttached(transactions, "no further one was free"));
        inUse.set(3);
        readOnly(manager, () -> assertThat(reason(transactions)).isNull());
    }

    @Test
    void takesNoneOfAPoolWithOneConnectionOrOfUnknownSizeUnlessItIsTold() {
        readOnly(manager, () -> shouldBeAttached(transactions(ReadOnlyLoads.SEPARATE, 1, null), "no further one"));
        readOnly(manager, () -> shouldBeAttached(transactions(ReadOnlyLoads.SEPARATE, 0, null), "no further one"));
        readOnly(manager, () -> assertThat(reason(transactions(ReadOnlyLoads.SEPARATE, 0, 1)))
                .isNull());
        readOnly(manager, () -> shouldBeAttached(transactions(ReadOnlyLoads.SEPARATE, 10, 0), "no further one"));
        readOnly(manager, () -> assertThat(reason(transactions(ReadOnlyLoads.SEPARATE, Pool.UNLIMITED, null)))
                .isNull());
    }

    private static void shouldBeAttached(SpringTransactions transactions, String because) {
        assertThat(reason(transactions)).contains(because);
    }

    private static @Nullable String reason(SpringTransactions transactions) {
        try (LoadScope scope = transactions.openLoadScope()) {
            return scope.attachedReason();
        }
    }

    /** @param size size of the pool; 0 if unknown */
    private SpringTransactions transactions(ReadOnlyLoads loads, int size, @Nullable Integer extraConnections) {
        PoolSizes sizes = key -> size == 0 ? null : new Pool(size, inUse::get);
        return new SpringTransactions(
                new LoadScopes(new ConnectionPools(sizes, extraConnections), loads), new OwnTransactions(() -> null));
    }

    private static void readOnly(PlatformTransactionManager manager, Runnable work) {
        DefaultTransactionDefinition facade = new DefaultTransactionDefinition();
        facade.setName("facade");
        facade.setReadOnly(true);
        facade.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
        new TransactionTemplate(manager, facade).executeWithoutResult(status -> work.run());
    }

    private static DataSourceTransactionManager manager(String name) {
        JdbcDataSource database = new JdbcDataSource();
        database.setUrl("jdbc:h2:mem:load-scopes-" + name);
        return new DataSourceTransactionManager(database);
    }

    private TransactionSynchronization heard() {
        return new TransactionSynchronization() {
            @Override
            public int getOrder() {
                return 0;
            }

            @Override
            public void suspend() {
                heard.add("suspend");
            }

            @Override
            public void resume() {
                heard.add("resume");
            }

            @Override
            public void beforeCommit(boolean readOnly) {
                heard.add("before commit");
            }

            @Override
            public void afterCompletion(int status) {
                heard.add("end");
            }
        };
    }

    private static Participant participant() {
        return new Participant() {
            @Override
            public void beforeCommit() {}

            @Override
            public void afterCompletion(Completion completion) {}
        };
    }

    /** A manager that does not bind its transactions to the thread. */
    static final class ForeignTransactionManager implements PlatformTransactionManager {

        @Override
        public TransactionStatus getTransaction(@Nullable TransactionDefinition definition) {
            return new SimpleTransactionStatus();
        }

        @Override
        public void commit(TransactionStatus status) {}

        @Override
        public void rollback(TransactionStatus status) {}
    }
}
