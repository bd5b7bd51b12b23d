package io.easykit.cache.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transaction of this thread whose end runs the present synchronizations, and the transactions inside it that share
 * them.
 *
 * <p>The bound connections do not identify it. A transaction of a second manager suspends only the synchronizations of the
 * first one, whose connection stays bound. This object is a synchronization itself: it is unbound while its transaction is
 * suspended, and from the completion on.
 */
final class PresentTransaction implements TransactionSynchronization {

    private final Object key;
    private final TransactionExecution transaction;
    private final PlatformTransactionManager manager;
    private final List<TransactionExecution> inner = new ArrayList<>();

    private PresentTransaction(Object key, TransactionExecution transaction, PlatformTransactionManager manager) {
        this.key = key;
        this.transaction = transaction;
        this.manager = manager;
    }

    static @Nullable PresentTransaction boundTo(Object key) {
        return (PresentTransaction) TransactionSynchronizationManager.getResource(key);
    }

    /** Notes a transaction that has just begun with synchronizations of its own. */
    static void begin(Object key, DefaultTransactionStatus begun, PlatformTransactionManager manager) {
        PresentTransaction present = new PresentTransaction(key, begun, manager);
        TransactionSynchronizationManager.registerSynchronization(present);
        present.resume();
    }

    TransactionExecution transaction() {
        return transaction;
    }

    PlatformTransactionManager manager() {
        return manager;
    }

    boolean hasInner() {
        return !inner.isEmpty();
    }

    void addInner(TransactionExecution begun) {
        inner.add(begun);
    }

    void removeInner(TransactionExecution ended) {
        inner.removeIf(one -> one == ended);
    }

    /** In {@code afterCompletion} it is called before all others, so that no other callback finds it. */
    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public void suspend() {
        TransactionSynchronizationManager.unbindResourceIfPossible(key);
    }

    @Override
    public void resume() {
        TransactionSynchronizationManager.unbindResourceIfPossible(key);
        TransactionSynchronizationManager.bindResource(key, this);
    }

    @Override
    public void afterCompletion(int status) {
        TransactionSynchronizationManager.unbindResourceIfPossible(key);
    }
}
