package io.easykit.delayqueue.transaction;

import io.easykit.delayqueue.jdbc.SendOutboxTransaction;
import java.lang.ref.WeakReference;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Transactions that have ended, while their connection is still bound to the thread. In {@code afterCompletion}, where
 * {@code @TransactionalEventListener} runs as well, a {@code REQUIRED} method joins that connection, but belongs to no transaction.
 */
final class EndedTransactions {

    private final Map<ConnectionHolder, WeakReference<TransactionExecution>> ended =
            Collections.synchronizedMap(new WeakHashMap<>());

    void add(@Nullable TransactionExecution transaction) {
        ConnectionHolder holder = SendOutboxTransaction.connectionOf(transaction);
        if (holder != null) {
            ended.put(holder, new WeakReference<>(transaction));
        }
    }

    /** The one whose connection is bound to this thread; null if there is none. */
    @Nullable TransactionExecution bound() {
        return TransactionSynchronizationManager.getResourceMap().values().stream()
                .filter(ConnectionHolder.class::isInstance)
                .map(ended::get)
                .filter(Objects::nonNull)
                .map(WeakReference::get)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }
}
