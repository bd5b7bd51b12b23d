package io.easykit.cache.transaction;

import io.easykit.cache.Loader;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Gives a load that runs outside its caller's transaction a read-only transaction.
 *
 * <p>Without it, code that works without a cache would fail: methods with {@code MANDATORY}, locking or streaming
 * queries, and several queries that rely on one snapshot.
 */
final class LoadTransactions {

    private final List<ResourceTransactionManager> managers = new CopyOnWriteArrayList<>();

    void add(ResourceTransactionManager manager) {
        managers.add(manager);
    }

    void remove(ResourceTransactionManager manager) {
        managers.removeIf(one -> one == manager);
    }

    /**
     * Returns a transaction like the one of the calling thread.
     *
     * @param present the transaction of the calling thread; null if its manager has not reported it
     * @param timeout remaining time of the caller's transaction; null if it has no limit
     * @return null if the thread has none, or one of an unknown transaction manager
     */
    @Nullable LoadTransaction likeCallers(@Nullable PresentTransaction present, @Nullable Duration timeout) {
        if (!TransactionSynchronizationManager.isActualTransactionActive()) {
            return null;
        }
        ResourceTransactionManager manager = present == null ? atWork() : known(present.manager());
        return manager == null ? null : new LoadTransaction(manager, definition(timeout));
    }

    private @Nullable ResourceTransactionManager known(PlatformTransactionManager manager) {
        return managers.stream().filter(one -> one == manager).findFirst().orElse(null);
    }

    /** A guess by the bound resources. Transactions of two managers may be bound. */
    private @Nullable ResourceTransactionManager atWork() {
        ResourceTransactionManager found = null;
        for (ResourceTransactionManager manager : managers) {
            // The manager of a session also binds the session's DataSource.
            if (isAtWork(manager) && (found == null || found.getResourceFactory() instanceof DataSource)) {
                found = manager;
            }
        }
        return found;
    }

    private static boolean isAtWork(ResourceTransactionManager manager) {
        return TransactionSynchronizationManager.getResource(manager.getResourceFactory())
                        instanceof ResourceHolderSupport holder
                && holder.isSynchronizedWithTransaction();
    }

    private static TransactionDefinition definition(@Nullable Duration timeout) {
        DefaultTransactionDefinition definition = new DefaultTransactionDefinition();
        definition.setName("easy-cache load");
        definition.setReadOnly(true);
        Integer isolation = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
        // Uncommitted data must not be stored.
        if (isolation != null && isolation != TransactionDefinition.ISOLATION_READ_UNCOMMITTED) {
            definition.setIsolationLevel(isolation);
        }
        if (timeout != null) {
            definition.setTimeout((int) Math.max(1, timeout.plusMillis(999).toSeconds()));
        }
        return definition;
    }

    /** Begins with the load, and has ended when its value is stored. */
    record LoadTransaction(PlatformTransactionManager manager, TransactionDefinition definition) {

        <V, X extends Throwable> Loader<V, X> around(Loader<V, X> loader) {
            return new Loader<>() {
                @Override
                public @Nullable V load() throws X {
                    return inTransaction(loader);
                }

                @Override
                public @Nullable Loader<V, ?> forBackground() {
                    return loader.forBackground();
                }
            };
        }

        private <V, X extends Throwable> @Nullable V inTransaction(Loader<V, X> loader) throws X {
            TransactionStatus status = manager.getTransaction(definition);
            V value;
            try {
                value = loader.load();
            } catch (Throwable failure) {
                rollback(status, failure);
                throw failure;
            }
            if (status.isRollbackOnly()) {
                manager.rollback(status);
            } else {
                manager.commit(status);
            }
            return value;
        }

        /** The exception of the loader must reach the caller. */
        private void rollback(TransactionStatus status, Throwable failure) {
            try {
                manager.rollback(status);
            } catch (RuntimeException | Error second) {
                failure.addSuppressed(second);
            }
        }
    }
}
