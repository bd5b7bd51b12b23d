package io.easykit.cache.transaction;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.ResourceHolder;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The caller's state bound to this thread by Spring: connections, sessions and the transaction. It is unbound for a
 * while, as a transaction manager does for {@code NOT_SUPPORTED}, but also without a transaction and after its end.
 *
 * <p>Not for JTA, whose transactions are bound to the thread by another system.
 */
final class SuspendedCaller {

    private final Map<Object, Object> resources = new LinkedHashMap<>();
    private final @Nullable String name = TransactionSynchronizationManager.getCurrentTransactionName();
    private final boolean readOnly = TransactionSynchronizationManager.isCurrentTransactionReadOnly();
    private final @Nullable Integer isolation = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
    private final boolean active = TransactionSynchronizationManager.isActualTransactionActive();
    private final @Nullable Deque<TransactionSynchronization> synchronizations =
            TransactionSynchronizationManager.isSynchronizationActive() ? new ArrayDeque<>() : null;

    private SuspendedCaller() {}

    static SuspendedCaller suspend() {
        SuspendedCaller caller = new SuspendedCaller();
        if (caller.synchronizations != null) {
            caller.suspendSynchronizations(caller.synchronizations);
        }
        TransactionSynchronizationManager.setCurrentTransactionName(null);
        TransactionSynchronizationManager.setCurrentTransactionReadOnly(false);
        TransactionSynchronizationManager.setCurrentTransactionIsolationLevel(null);
        TransactionSynchronizationManager.setActualTransactionActive(false);
        caller.unbindResources();
        return caller;
    }

    void resume() {
        resources.forEach((key, resource) -> {
            TransactionSynchronizationManager.unbindResourceIfPossible(key);
            TransactionSynchronizationManager.bindResource(key, resource);
        });
        TransactionSynchronizationManager.setCurrentTransactionName(name);
        TransactionSynchronizationManager.setCurrentTransactionReadOnly(readOnly);
        TransactionSynchronizationManager.setCurrentTransactionIsolationLevel(isolation);
        TransactionSynchronizationManager.setActualTransactionActive(active);
        if (synchronizations != null) {
            resumeSynchronizations(synchronizations);
        }
    }

    private void suspendSynchronizations(Deque<TransactionSynchronization> suspended) {
        List<TransactionSynchronization> all = TransactionSynchronizationManager.getSynchronizations();
        TransactionSynchronizationManager.clearSynchronization();
        try {
            for (TransactionSynchronization synchronization : all) {
                synchronization.suspend();
                suspended.add(synchronization);
            }
        } catch (RuntimeException | Error failure) {
            TransactionSynchronizationManager.initSynchronization();
            suspended.forEach(TransactionSynchronization::resume);
            all.forEach(TransactionSynchronizationManager::registerSynchronization);
            throw failure;
        }
    }

    private static void resumeSynchronizations(Deque<TransactionSynchronization> suspended) {
        if (!TransactionSynchronizationManager.isSynchronizationActive()) {
            TransactionSynchronizationManager.initSynchronization();
        }
        for (TransactionSynchronization synchronization : suspended) {
            synchronization.resume();
            TransactionSynchronizationManager.registerSynchronization(synchronization);
        }
    }

    /** Runs after the synchronizations, which unbind their own resources. */
    private void unbindResources() {
        Map<Object, Object> bound = new LinkedHashMap<>(TransactionSynchronizationManager.getResourceMap());
        bound.forEach((key, resource) -> {
            if (resource instanceof ResourceHolder) {
                resources.put(key, TransactionSynchronizationManager.unbindResource(key));
            }
        });
    }
}
