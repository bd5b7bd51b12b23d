package io.easykit.cache.transaction;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
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

    /**
     * Connections of transactions whose end is not reported before: a {@code beforeCommit} has thrown. They are still bound
     * in the callbacks, and may be used again by a transaction that begins later.
     */
    private final Set<ResourceHolderSupport> unreported =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    /** The database is about to commit or roll back. Callbacks follow. */
    void ending(TransactionExecution transaction) {
        Deque<Ended> ended = bound();
        if (ended == null) {
            ended = new ArrayDeque<>();
            TransactionSynchronizationManager.bindResource(key, ended);
        }
        ended.push(new Ended(transaction, synchronizedHolders().toList()));
    }

    /** A transaction has begun, inside those that hold the connections {@code around}. It may use a bound session only later. */
    void begun(Collection<ResourceHolderSupport> around) {
        if (!unreported.isEmpty()) {
            holders().filter(holder -> !around.contains(holder)).forEach(unreported::remove);
        }
    }

    /** The callbacks after the end are about to run, which may be the first that is heard of it. */
    void completing(TransactionExecution transaction, Collection<ResourceHolderSupport> around) {
        Deque<Ended> ended = bound();
        if (ended == null || ended.stream().noneMatch(one -> one.transaction == transaction)) {
            synchronizedHolders().filter(holder -> !around.contains(holder)).forEach(unreported::add);
        }
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
        if (bound() == null && !isUnreportedEnd() && unreported.isEmpty()) {
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
                || unreported.contains(holder)
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
        return holders().filter(ResourceHolderSupport::isSynchronizedWithTransaction);
    }

    private static Stream<ResourceHolderSupport> holders() {
        return TransactionSynchronizationManager.getResourceMap().values().stream()
                .filter(ResourceHolderSupport.class::isInstance)
                .map(ResourceHolderSupport.class::cast);
    }

    @SuppressWarnings("unchecked") // bound by this class only
    private @Nullable Deque<Ended> bound() {
        return (Deque<Ended>) TransactionSynchronizationManager.getResource(key);
    }

    private record Ended(TransactionExecution transaction, List<ResourceHolderSupport> holders) {}
}
