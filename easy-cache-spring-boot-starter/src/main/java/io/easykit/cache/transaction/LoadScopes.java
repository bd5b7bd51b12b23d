package io.easykit.cache.transaction;

import io.easykit.cache.Action;
import io.easykit.cache.LoadScope;
import io.easykit.cache.Loader;
import io.easykit.cache.transaction.LoadTransactions.LoadTransaction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Decides where a load runs, and runs it there.
 *
 * <h2>Unsafe reads</h2>
 *
 * A thread may have a session (a persistence context) or a connection bound to it. Spring Boot binds a session for each
 * web request (open session in view), and a transaction binds one for its duration. A load through these may return an
 * entity that was changed and never saved, an entity read before another update, or rows of an old snapshot. If it were
 * stored, all readers would get it.
 *
 * <h2>Separate loads</h2>
 *
 * The state of the caller is suspended during the load ({@link SuspendedCaller}). If it had a JPA session, the load
 * gets a new one, so that lazy loading works inside. The value is stored while that session is open. The first caller
 * gets it detached, as on every hit. If it had a transaction, the loader gets a read-only one
 * ({@link LoadTransactions}).
 *
 * <p>This needs a further connection if the caller holds one. Their number is limited ({@link ConnectionPools}).
 *
 * <h2>Attached loads</h2>
 *
 * <ul>
 *   <li>In a read-write transaction: a separate load would miss the transaction's own writes and could wait for its
 *       locks.
 *   <li>In a transaction that cannot be suspended (JTA), or whose end is not reported.
 *   <li>If no further connection is available.
 * </ul>
 *
 * Their values are returned and not stored.
 */
public final class LoadScopes {

    private static final LoadScope READ_WRITE =
            LoadScope.attached("inside a read-write transaction (to cache it, call the method outside, or"
                    + " declare the transaction readOnly = true)");
    private static final LoadScope READ_ONLY = LoadScope.attached(
            "inside a read-only transaction (to cache it, set easy-cache.transactions.read-only-loads to 'separate')");
    private static final LoadScope NOT_SUSPENDABLE = LoadScope.attached(
            "inside a transaction that the cache cannot suspend, as with JTA (to cache it, call the method outside)");
    private static final LoadScope HIDDEN = LoadScope.attached(
            "inside a transaction whose manager does not report its end (to cache it, enable synchronization in"
                    + " the manager)");
    private static final LoadScope NO_CONNECTION =
            LoadScope.attached("while its caller held a database connection and no"
                    + " further one was free (to cache it, enlarge the pool or"
                    + " easy-cache.transactions.extra-connections)");

    private final ConnectionPools pools;
    private final ReadOnlyLoads readOnlyLoads;
    private final LoadTransactions transactions = new LoadTransactions();
    private final Set<PlatformTransactionManager> notSuspendable =
            Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));

    public LoadScopes(ConnectionPools pools, ReadOnlyLoads readOnlyLoads) {
        this.pools = pools;
        this.readOnlyLoads = readOnlyLoads;
    }

    /** The transactions of other systems are bound to their thread. */
    void add(PlatformTransactionManager manager) {
        if (manager instanceof ResourceTransactionManager suspendable) {
            transactions.add(suspendable);
        } else {
            notSuspendable.add(manager);
        }
    }

    void remove(PlatformTransactionManager manager) {
        notSuspendable.remove(manager);
        if (manager instanceof ResourceTransactionManager suspendable) {
            transactions.remove(suspendable);
        }
    }

    LoadScope open(SpringTransactions caller) {
        boolean active = TransactionSynchronizationManager.isActualTransactionActive();
        boolean synchronizing = TransactionSynchronizationManager.isSynchronizationActive();
        Map<Object, Object> resources = TransactionSynchronizationManager.getResourceMap();
        if (!active && !synchronizing && resources.isEmpty()) {
            return LoadScope.DIRECT;
        }
        if (active && synchronizing && !isReadOnly(caller)) {
            return READ_WRITE;
        }
        if (active && synchronizing && readOnlyLoads == ReadOnlyLoads.ATTACHED) {
            return READ_ONLY;
        }
        if (active && !notSuspendable.isEmpty()) {
            return NOT_SUSPENDABLE;
        }
        if (caller.isEndHidden()) {
            return HIDDEN;
        }
        return apart(resources, transactions.likeCallers(caller.present(), caller.timeout()));
    }

    /** Nothing was updated in it, and no transaction of another manager can write inside it. */
    private static boolean isReadOnly(SpringTransactions caller) {
        return TransactionSynchronizationManager.isCurrentTransactionReadOnly()
                && caller.current() == null
                && !caller.hasInner();
    }

    private LoadScope apart(Map<Object, Object> resources, @Nullable LoadTransaction transaction) {
        Set<Object> held = BoundSessions.heldPools(resources);
        Runnable release = held.isEmpty() ? () -> {} : pools.reserve(held);
        return release == null ? NO_CONNECTION : new Apart(BoundSessions.factories(resources), transaction, release);
    }

    /** A background thread has nothing bound, but its load needs sessions and a transaction if the caller had some. */
    LoadScope background(SpringTransactions caller) {
        List<Object> factories = BoundSessions.factories(TransactionSynchronizationManager.getResourceMap());
        LoadTransaction transaction = transactions.likeCallers(caller.present(), null);
        return factories.isEmpty() && transaction == null
                ? LoadScope.DIRECT
                : new Apart(factories, transaction, () -> {});
    }

    private static final class Apart implements LoadScope {

        private final List<Object> factories;
        private final @Nullable LoadTransaction transaction;
        private final Runnable release;

        Apart(List<Object> factories, @Nullable LoadTransaction transaction, Runnable release) {
            this.factories = factories;
            this.transaction = transaction;
            this.release = release;
        }

        @Override
        public <V, X extends Throwable> Loader<V, X> around(Loader<V, X> loader) {
            return transaction == null ? loader : transaction.around(loader);
        }

        @Override
        public <T, X extends Throwable> @Nullable T run(Action<T, X> load) throws X {
            SuspendedCaller caller = SuspendedCaller.suspend();
            try {
                return runWithSessions(load);
            } finally {
                caller.resume();
            }
        }

        private <T, X extends Throwable> @Nullable T runWithSessions(Action<T, X> load) throws X {
            List<Runnable> opened = new ArrayList<>(factories.size());
            try {
                factories.forEach(factory -> opened.add(BoundSessions.bindNew(factory)));
                return load.run();
            } finally {
                opened.forEach(Runnable::run);
            }
        }

        @Override
        public void close() {
            release.run();
        }
    }
}
