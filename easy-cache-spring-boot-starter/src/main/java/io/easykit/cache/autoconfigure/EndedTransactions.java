package io.easykit.cache.autoconfigure;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transactions of this thread that have ended and whose callbacks are running ({@code afterCommit},
 * {@code afterCompletion}).
 *
 * <p>Their connections are still bound, and code in a callback uses them. Its writes are committed when the transaction
 * manager releases the connection after the last callback, by switching to auto-commit.
 */
final class EndedTransactions {

    private final Object key = new Object();

    /** The database is about to commit or roll back. Callbacks follow. */
    void ending(TransactionExecution transaction) {
        Deque<Ended> ended = bound();
        if (ended == null) {
            ended = new ArrayDeque<>();
            TransactionSynchronizationManager.bindResource(key, ended);
        }
        ended.push(new Ended(transaction, synchronizedHolders().toList()));
    }

    /** The callbacks have run. */
    void over(TransactionExecution transaction) {
        Deque<Ended> ended = bound();
        if (ended != null) {
            ended.removeIf(one -> one.transaction == transaction);
            if (ended.isEmpty()) {
                TransactionSynchronizationManager.unbindResource(key);
            }
        }
    }

    /**
     * Returns a check, callable on any thread, whether bound connections of ended transactions are still held; null if
     * there are none.
     */
    @Nullable BooleanSupplier connections() {
        if (bound() == null && !isUnreportedEnd()) {
            return null;
        }
        List<ResourceHolderSupport> held =
                synchronizedHolders().filter(this::belongsToEnded).toList();
        return held.isEmpty()
                ? null
                : () -> held.stream().anyMatch(ResourceHolderSupport::isSynchronizedWithTransaction);
    }

    private boolean belongsToEnded(ResourceHolderSupport holder) {
        Deque<Ended> ended = bound();
        return isUnreportedEnd()
                || (ended != null
                        && ended.stream().anyMatch(one -> one.holders.stream().anyMatch(held -> held == holder)));
    }

    /** In {@code afterCompletion} the connections of the transaction are still bound. */
    private static boolean isUnreportedEnd() {
        return TransactionSynchronizationManager.isActualTransactionActive()
                && !TransactionSynchronizationManager.isSynchronizationActive();
    }

    /** The connections of the transactions that are bound to this thread. */
    static Stream<ResourceHolderSupport> synchronizedHolders() {
        return TransactionSynchronizationManager.getResourceMap().values().stream()
                .filter(ResourceHolderSupport.class::isInstance)
                .map(ResourceHolderSupport.class::cast)
                .filter(ResourceHolderSupport::isSynchronizedWithTransaction);
    }

    @SuppressWarnings("unchecked") // bound by this class only
    private @Nullable Deque<Ended> bound() {
        return (Deque<Ended>) TransactionSynchronizationManager.getResource(key);
    }

    private record Ended(TransactionExecution transaction, List<ResourceHolderSupport> holders) {}
}
