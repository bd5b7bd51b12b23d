package io.easykit.cache.transaction;

import io.easykit.boot.TransactionListeners;
import io.easykit.cache.Action;
import io.easykit.cache.LoadScope;
import io.easykit.cache.Transactions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transactions that Spring manages on this thread.
 *
 * <p>A participant is called back by a synchronization. It is also a resource of its transaction: unbound while the
 * transaction is suspended, and bound again when it resumes. Some commits have no synchronization of their own, or
 * concern participants of a suspended transaction. The transaction managers report these to a listener ({@link #manages}):
 *
 * <ul>
 *   <li>A participant that joins during another {@code beforeCommit} gets no call before the commit.
 *   <li>A transaction that begins while another one is suspended commits before that one ends.
 *   <li>A transaction of a second transaction manager commits separately, but shares the synchronizations of the first
 *       one: an <em>inner</em> transaction.
 * </ul>
 */
public final class SpringTransactions implements Transactions {

    private final Object suspendedKey = new Object();
    private final Object presentKey = new Object();

    /** Connections of open transactions, while another one begins. */
    private final Object aroundKey = new Object();

    /** Open transactions without synchronizations inside another one. */
    private final Object hiddenKey = new Object();

    /** Participants of transactions of all threads. While there is none, a read does not search its thread. */
    private final AtomicInteger enlisted = new AtomicInteger();

    private final EndedTransactions ended = new EndedTransactions();
    private final Set<PlatformTransactionManager> managed =
            Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));
    private final LoadScopes scopes;
    private final OwnTransactions own;

    /** @param own for updates that need a new transaction */
    public SpringTransactions(LoadScopes scopes, OwnTransactions own) {
        this.scopes = scopes;
        this.own = own;
    }

    @Override
    public boolean isActive() {
        return TransactionSynchronizationManager.isActualTransactionActive()
                && TransactionSynchronizationManager.isSynchronizationActive();
    }

    /**
     * Whether a transaction manager without synchronization is active. The callbacks of an ended transaction look the same after
     * the end of another one inside them, which removes the mark that a transaction is active.
     */
    @Override
    public boolean isEndHidden() {
        if (TransactionSynchronizationManager.isActualTransactionActive()) {
            return false;
        }
        return TransactionSynchronizationManager.hasResource(hiddenKey)
                || (!TransactionSynchronizationManager.isSynchronizationActive()
                        && EndedTransactions.synchronizedHolders().findAny().isPresent()
                        && ended.connections() == null);
    }

    @Override
    public @Nullable BooleanSupplier lateCommit() {
        return ended.connections();
    }

    @Override
    public boolean hasInner() {
        PresentTransaction present = present();
        return (present != null && present.hasInner()) || TransactionSynchronizationManager.hasResource(hiddenKey);
    }

    /** The transaction whose end runs the present synchronizations; null if there is none or its manager does not report it. */
    public @Nullable PresentTransaction present() {
        return PresentTransaction.boundTo(presentKey);
    }

    @Override
    public @Nullable Participant current() {
        return enlisted.get() == 0 ? null : (Participant) TransactionSynchronizationManager.getResource(this);
    }

    /** All suspended ones, if the connection of any is bound. One whose connection is not costs its keys the cache meanwhile. */
    @Override
    public Collection<Participant> around() {
        List<Participant> suspended = enlisted.get() == 0 ? List.of() : suspended();
        PresentTransaction present = suspended.isEmpty() ? null : present();
        // In the callbacks after the end none is present.
        boolean isAnyBound = present != null
                ? present.isInsideAnother()
                : !suspended.isEmpty()
                        && EndedTransactions.synchronizedHolders().findAny().isPresent();
        return isAnyBound ? suspended : List.of();
    }

    @Override
    public void enlist(Participant participant) {
        TransactionSynchronizationManager.registerSynchronization(new Enlisted(participant, present()));
        enlisted.incrementAndGet();
        TransactionSynchronizationManager.bindResource(this, participant);
    }

    @Override
    public LoadScope openLoadScope() {
        return scopes.open(this);
    }

    @Override
    public LoadScope backgroundScope() {
        return scopes.background(this);
    }

    @Override
    public <T, X extends Throwable> @Nullable T inNewTransaction(Action<T, X> action) throws X {
        return own.run(action);
    }

    /**
     * Listens to a manager, if it can be listened to. A manager that binds its transaction as a thread resource can be
     * suspended from outside. One manager may be several beans.
     */
    void manages(PlatformTransactionManager manager) {
        if (!managed.add(manager)) {
            return;
        }
        if (manager instanceof ConfigurableTransactionManager configurable) {
            TransactionListeners.addFirst(configurable, new CommitListener(manager));
        }
        scopes.add(manager);
    }

    /** Ends what {@link #manages} began: the manager may be of a child context, which is closed before this one. */
    void forget(PlatformTransactionManager manager) {
        managed.remove(manager);
        scopes.remove(manager);
    }

    @Override
    public @Nullable Duration timeout() {
        return TransactionSynchronizationManager.getResourceMap().values().stream()
                .filter(resource -> resource instanceof ResourceHolderSupport holder && holder.hasTimeout())
                .map(resource -> ((ResourceHolderSupport) resource).getDeadline())
                .filter(Objects::nonNull)
                .map(deadline -> Duration.between(Instant.now(), deadline.toInstant()))
                .max(Comparator.naturalOrder())
                .orElse(null);
    }

    /** Adds to a list bound to this thread, independent of suspended transactions. */
    @SuppressWarnings("unchecked") // bound by this class only
    private static <T> void push(Object key, T element) {
        List<T> bound = (List<T>) TransactionSynchronizationManager.getResource(key);
        if (bound == null) {
            bound = new ArrayList<>();
            TransactionSynchronizationManager.bindResource(key, bound);
        }
        bound.add(element);
    }

    private static void remove(Object key, Object element) {
        if (TransactionSynchronizationManager.getResource(key) instanceof List<?> bound) {
            bound.remove(element);
            if (bound.isEmpty()) {
                TransactionSynchronizationManager.unbindResource(key);
            }
        }
    }

    @SuppressWarnings("unchecked") // bound by this class only
    private List<Participant> suspended() {
        List<Participant> bound = (List<Participant>) TransactionSynchronizationManager.getResource(suspendedKey);
        return bound == null ? List.of() : List.copyOf(bound);
    }

    private final class Enlisted implements TransactionSynchronization {

        private final Participant participant;
        private final @Nullable PresentTransaction transaction;
        private boolean completing;
        private boolean completed;

        Enlisted(Participant participant, @Nullable PresentTransaction transaction) {
            this.participant = participant;
            this.transaction = transaction;
        }

        @Override
        public void suspend() {
            TransactionSynchronizationManager.unbindResource(SpringTransactions.this);
            push(suspendedKey, participant);
        }

        @Override
        public void resume() {
            remove(suspendedKey, participant);
            TransactionSynchronizationManager.bindResource(SpringTransactions.this, participant);
        }

        @Override
        public void beforeCommit(boolean readOnly) {
            participant.beforeCommit();
        }

        @Override
        public void beforeCompletion() {
            completing = true;
        }

        @Override
        public void afterCompletion(int status) {
            TransactionSynchronizationManager.unbindResourceIfPossible(SpringTransactions.this);
            if (!completed) {
                completed = true;
                enlisted.decrementAndGet();
            }
            participant.afterCompletion(completion(status));
        }

        /**
         * Spring leaves a transaction open if a {@code beforeCommit} throws a {@code TransactionException}: it takes it for a failed
         * commit, or a rollback. Before each real one it calls {@code beforeCompletion}. The work may also be part of the
         * transaction of another manager around this one.
         */
        private Completion completion(int status) {
            if ((transaction != null && transaction.isInsideAnother()) || (status != STATUS_COMMITTED && !completing)) {
                return Completion.LEFT_OPEN;
            }
            Completion unlessCommitted = status == STATUS_ROLLED_BACK ? Completion.ROLLED_BACK : Completion.UNKNOWN;
            return status == STATUS_COMMITTED ? Completion.ENDED : unlessCommitted;
        }
    }

    /** Called by one transaction manager for each transaction that it begins. */
    private final class CommitListener implements TransactionExecutionListener {

        private final PlatformTransactionManager manager;

        CommitListener(PlatformTransactionManager manager) {
            this.manager = manager;
        }

        /** The connection of a transaction of another manager stays bound. */
        @Override
        public void beforeBegin(TransactionExecution transaction) {
            List<ResourceHolderSupport> bound =
                    EndedTransactions.synchronizedHolders().toList();
            TransactionSynchronizationManager.unbindResourceIfPossible(aroundKey);
            if (!bound.isEmpty()) {
                TransactionSynchronizationManager.bindResource(aroundKey, bound);
            }
        }

        @Override
        @SuppressWarnings("unchecked") // bound by this class only
        public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
            List<ResourceHolderSupport> around =
                    (List<ResourceHolderSupport>) TransactionSynchronizationManager.unbindResourceIfPossible(aroundKey);
            if (beginFailure != null || !(transaction instanceof DefaultTransactionStatus status)) {
                return;
            }
            PresentTransaction present = present();
            if (!isInner(status)) {
                PresentTransaction.begin(presentKey, status, manager, around == null ? List.of() : around, ended);
            } else if (present != null) {
                present.addInner(status);
            } else {
                push(hiddenKey, status);
            }
        }

        @Override
        public void beforeCommit(TransactionExecution transaction) {
            suspended().forEach(one -> one.beforeInnerCommit(transaction));
            Participant current = current();
            if (current != null && isInner(transaction)) {
                current.beforeInnerCommit(transaction);
            } else if (current != null) {
                current.beforeCommit();
            }
            ending(transaction);
        }

        @Override
        public void beforeRollback(TransactionExecution transaction) {
            ending(transaction);
        }

        private void ending(TransactionExecution transaction) {
            if (!isInner(transaction)) {
                ended.ending(transaction);
            }
        }

        @Override
        public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
            ended(transaction, commitFailure == null);
        }

        @Override
        public void afterRollback(TransactionExecution transaction, @Nullable Throwable rollbackFailure) {
            ended(transaction, false);
        }

        private void ended(TransactionExecution transaction, boolean committed) {
            ended.over(transaction);
            remove(hiddenKey, transaction);
            PresentTransaction present = present();
            if (present != null) {
                present.removeInner(transaction);
            }
            suspended().forEach(one -> one.afterInnerCompletion(transaction, committed));
            Participant current = current();
            if (current != null && isInner(transaction)) {
                current.afterInnerCompletion(transaction, committed);
            }
        }

        private static boolean isInner(TransactionExecution transaction) {
            return transaction instanceof DefaultTransactionStatus status && !status.isNewSynchronization();
        }
    }
}
