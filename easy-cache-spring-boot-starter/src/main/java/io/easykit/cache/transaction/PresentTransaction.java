package io.easykit.cache.transaction;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.ResourceHolderSupport;
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
public final class PresentTransaction implements TransactionSynchronization {

    private final Object key;
    private final TransactionExecution transaction;
    private final PlatformTransactionManager manager;
    private final List<ResourceHolderSupport> around;
    private final EndedTransactions ended;
    private final List<TransactionExecution> inner = new ArrayList<>();

    private PresentTransaction(
            Object key,
            TransactionExecution transaction,
            PlatformTransactionManager manager,
            List<ResourceHolderSupport> around,
            EndedTransactions ended) {
        this.key = key;
        this.transaction = transaction;
        this.manager = manager;
        this.around = around;
        this.ended = ended;
    }

    static @Nullable PresentTransaction boundTo(Object key) {
        return (PresentTransaction) TransactionSynchronizationManager.getResource(key);
    }

    /**
     * Notes a transaction that has just begun with synchronizations of its own.
     *
     * @param around connections of transactions that were bound before
     * @param ended is told of its begin and its end
     */
    static void begin(
            Object key,
            DefaultTransactionStatus begun,
            PlatformTransactionManager manager,
            List<ResourceHolderSupport> around,
            EndedTransactions ended) {
        PresentTransaction present = new PresentTransaction(key, begun, manager, around, ended);
        ended.begun(around);
        TransactionSynchronizationManager.registerSynchronization(present);
        present.resume();
    }

    public TransactionExecution transaction() {
        return transaction;
    }

    PlatformTransactionManager manager() {
        return manager;
    }

    /**
     * Whether a transaction of another manager is open around this one. Methods called in this one can work in that one:
     * its connection is still bound.
     */
    boolean isInsideAnother() {
        return around.stream().anyMatch(ResourceHolderSupport::isSynchronizedWithTransaction);
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
        ended.completing(transaction, around);
    }
}
