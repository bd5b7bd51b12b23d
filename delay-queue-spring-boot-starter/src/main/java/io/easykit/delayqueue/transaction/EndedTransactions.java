package io.easykit.delayqueue.transaction;

import java.lang.ref.WeakReference;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.JdbcTransactionObjectSupport;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Transactions that have ended, while their connection is still bound to the thread. In {@code afterCompletion}, where
 * {@code @TransactionalEventListener} runs as well, a {@code REQUIRED} method joins that connection, but belongs to no transaction.
 */
final class EndedTransactions {

    /** By what holds the connection. */
    private final Map<Object, WeakReference<TransactionExecution>> ended =
            Collections.synchronizedMap(new WeakHashMap<>());

    /** A holder may be used again. */
    void begun(TransactionExecution transaction) {
        Object holder = holder(transaction);
        if (holder != null) {
            ended.remove(holder);
        }
    }

    void ended(@Nullable TransactionExecution transaction) {
        Object holder = holder(transaction);
        if (holder != null) {
            ended.put(holder, new WeakReference<>(transaction));
        }
    }

    /** The one whose connection is bound to this thread; null if there is none. */
    @Nullable TransactionExecution bound() {
        return TransactionSynchronizationManager.getResourceMap().values().stream()
                .map(ended::get)
                .filter(Objects::nonNull)
                .map(WeakReference::get)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    private static @Nullable Object holder(@Nullable TransactionExecution transaction) {
        return transaction instanceof DefaultTransactionStatus status
                        && status.hasTransaction()
                        && status.getTransaction() instanceof JdbcTransactionObjectSupport own
                        && own.hasConnectionHolder()
                ? own.getConnectionHolder()
                : null;
    }
}
