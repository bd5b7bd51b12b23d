package io.easykit.cache.transaction;

import io.easykit.cache.Action;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.util.function.SingletonSupplier;

/**
 * Runs updates of serial caches in transactions that the cache begins, with the application's transaction manager. If there are
 * several and none is primary, no transaction begins.
 *
 * <p>As {@code @Transactional} does: an unchecked exception or an {@code Error} rolls back, a checked exception commits.
 */
public final class OwnTransactions {

    private static final Logger log = LoggerFactory.getLogger(OwnTransactions.class);

    private final Supplier<Optional<PlatformTransactionManager>> manager;

    /** @param manager called once, by the first update; may return null */
    public OwnTransactions(Supplier<@Nullable PlatformTransactionManager> manager) {
        this.manager = SingletonSupplier.of(() -> Optional.ofNullable(manager.get()));
    }

    /** Returns the only manager, or the primary one; null if there is none, or Spring cannot choose. */
    public static @Nullable PlatformTransactionManager choose(ObjectProvider<PlatformTransactionManager> managers) {
        PlatformTransactionManager chosen = managers.getIfUnique();
        if (chosen == null && managers.stream().findAny().isPresent()) {
            log.warn(
                    "Updates of serial caches run without a transaction of their own, because there are several transaction"
                            + " managers, and none is primary. Put @Primary on one of them, or @Transactional on the methods.");
        }
        return chosen;
    }

    <T, X extends Throwable> @Nullable T run(Action<T, X> action) throws X {
        PlatformTransactionManager present = manager.get().orElse(null);
        return present == null ? action.run() : run(present, action);
    }

    private static <T, X extends Throwable> @Nullable T run(PlatformTransactionManager manager, Action<T, X> action)
            throws X {
        DefaultTransactionDefinition definition = new DefaultTransactionDefinition();
        definition.setName("easy-cache update");
        TransactionStatus status = manager.getTransaction(definition);
        T result;
        try {
            result = action.run();
        } catch (RuntimeException | Error failure) {
            rollback(manager, status, failure);
            throw failure;
        } catch (Throwable checked) {
            commit(manager, status, checked);
            throw checked;
        }
        manager.commit(status);
        return result;
    }

    /** The exception of the action must reach the caller. */
    private static void rollback(PlatformTransactionManager manager, TransactionStatus status, Throwable failure) {
        try {
            manager.rollback(status);
        } catch (RuntimeException | Error second) {
            failure.addSuppressed(second);
        }
    }

    /** A commit that fails is more than the exception of the action: its work is lost. */
    private static void commit(PlatformTransactionManager manager, TransactionStatus status, Throwable checked) {
        try {
            manager.commit(status);
        } catch (RuntimeException | Error second) {
            second.addSuppressed(checked);
            throw second;
        }
    }
}
