package io.easykit.cache.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.LoadScope;
import java.lang.ref.WeakReference;
import java.util.function.Supplier;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Child contexts that are opened and closed while their parent, with the cache, lives. */
class TransactionListenerProcessorTests {

    private final SpringTransactions transactions = new SpringTransactions(
            new LoadScopes(new ConnectionPools(pool -> null, 1), ReadOnlyLoads.SEPARATE),
            new OwnTransactions(() -> null));

    @AutoClose
    private final AnnotationConfigApplicationContext parent = new AnnotationConfigApplicationContext();

    TransactionListenerProcessorTests() {
        parent.refresh();
    }

    private AnnotationConfigApplicationContext child(Supplier<PlatformTransactionManager> manager) {
        AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext();
        child.setParent(parent);
        child.registerBean(
                TransactionListenerProcessor.class, () -> new TransactionListenerProcessor(() -> transactions));
        child.registerBean(PlatformTransactionManager.class, manager);
        child.refresh();
        return child;
    }

    private static DataSourceTransactionManager manager() {
        JdbcDataSource database = new JdbcDataSource();
        database.setUrl("jdbc:h2:mem:child-contexts");
        return new DataSourceTransactionManager(database);
    }

    @Test
    void keepsNoManagerOfAClosedContext() {
        AnnotationConfigApplicationContext child = child(TransactionListenerProcessorTests::manager);
        WeakReference<PlatformTransactionManager> manager =
                new WeakReference<>(child.getBean(PlatformTransactionManager.class));

        child.close();

        await().until(() -> {
            System.gc();
            return manager.get() == null;
        });
    }

    /** As one of JTA. */
    @Test
    void aManagerThatCannotBeSuspendedHasNoEffectAfterItsContext() {
        DataSourceTransactionManager own = manager();
        transactions.manages(own);
        AnnotationConfigApplicationContext child = child(LoadScopesTests.ForeignTransactionManager::new);
        assertThat(reason(own)).contains("cannot suspend");

        child.close();

        assertThat(reason(own)).isNull();
    }

    private @Nullable String reason(PlatformTransactionManager manager) {
        TransactionTemplate readOnly = new TransactionTemplate(manager);
        readOnly.setReadOnly(true);
        return readOnly.execute(status -> {
            try (LoadScope scope = transactions.openLoadScope()) {
                return scope.attachedReason();
            }
        });
    }
}
