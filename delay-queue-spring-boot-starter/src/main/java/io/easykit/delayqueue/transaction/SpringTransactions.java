package io.easykit.delayqueue.transaction;

import io.easykit.delayqueue.jdbc.SendOutboxTransaction;
import io.easykit.delayqueue.support.Transactions;
import java.lang.ref.WeakReference;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Joins the transaction that Spring manages on this thread. Suspending a transaction suspends its synchronizations, and
 * with them its participants.
 *
 * <p>A participant belongs to the latest savepoint before it joined, if any. A rollback to that savepoint, as of a
 * nested transaction, ends it; later messages need a new participant.
 *
 * <p><b>Unknown outcomes.</b> Spring reports one for three different ends:
 *
 * <ul>
 *   <li>The commit failed with a {@code TransactionException}. If JPA has rolled back, as after a failed validation in the
 *       flush, the exception says so. Only {@link #listener} sees it, just after the synchronizations.
 *   <li>A rollback failed. Without a commit before it, nothing is committed. Only {@link #listener} sees whether there was
 *       one: see {@link End}.
 *   <li>A {@code beforeCommit} threw a {@code TransactionException}. Spring takes it for a failed commit and leaves the
 *       transaction open; it is committed or rolled back when its connection is returned. If the exception is an
 *       {@code UnexpectedRollbackException}, Spring even reports a rollback. Before each real end it calls
 *       {@code beforeCompletion}.
 * </ul>
 */
public final class SpringTransactions implements Transactions {

    private static final String JPA_ROLLBACK = "jakarta.persistence.RollbackException";

    private static final int MOST_CAUSES = 100;

    private final TransactionExecutionListener listener = new EndListener();

    /**
     * Transactions that commit or roll back now. If the end of one is not reported, its entry goes with it, and its undecided
     * participants get no call. {@link TransactionListenerProcessor} puts the listener first, so no other one prevents the
     * report.
     */
    private final Map<TransactionExecution, End> ends = Collections.synchronizedMap(new WeakHashMap<>());

    private final EndedTransactions ended = new EndedTransactions();

    /** Is registered with each transaction manager that can report to it. */
    TransactionExecutionListener listener() {
        return listener;
    }

    /**
     * The transaction of this thread, also an ended one whose connection a callback has joined; null if there is none, or its
     * manager does not report it.
     */
    public @Nullable SendOutboxTransaction present() {
        if (!TransactionSynchronizationManager.isActualTransactionActive()
                || !TransactionSynchronizationManager.isSynchronizationActive()) {
            return null;
        }
        End end = End.current();
        TransactionExecution transaction = end == null ? ended.bound() : end.transaction.get();
        return transaction == null ? null : new SendOutboxTransaction(transaction, end == null || end.committed);
    }

    @Override
    public <P extends Participant> Optional<P> join(Object key, Function<Optional<P>, P> newcomer) {
        if (!TransactionSynchronizationManager.isActualTransactionActive()
                || !TransactionSynchronizationManager.isSynchronizationActive()) {
            return Optional.empty();
        }
        List<Joined> all = Joined.allOf(key);
        return Optional.of(SpringTransactions.<P>first(all, Joined::takesMore)
                .orElseGet(() -> register(key, newcomer.apply(latest(all)))));
    }

    @Override
    public boolean isCommitting() {
        End end = TransactionSynchronizationManager.isSynchronizationActive() ? End.current() : null;
        return end == null || end.isBeforeCommit;
    }

    @SuppressWarnings("TypeParameterUnusedInFormals")
    private static <P extends Participant> Optional<P> latest(List<Joined> all) {
        return all.isEmpty() ? Optional.empty() : first(all.subList(all.size() - 1, all.size()), joined -> true);
    }

    /** Participants of one key all have the type of its caller. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <P extends Participant> Optional<P> first(List<Joined> all, Predicate<Joined> wanted) {
        return all.stream().filter(wanted).map(joined -> (P) joined.participant).findFirst();
    }

    private static <P extends Participant> P register(Object key, P participant) {
        TransactionSynchronizationManager.registerSynchronization(new Joined(key, participant, End.current()));
        return participant;
    }

    private static final class Joined implements TransactionSynchronization {

        private final Object key;
        private final Participant participant;
        private final Set<Object> laterSavepoints = Collections.newSetFromMap(new IdentityHashMap<>());
        private boolean rolledBack;
        private boolean committing;
        private boolean completing;
        private final @Nullable End end;
        private boolean finished;

        /** @param end end of its transaction, or null if that is not reported */
        Joined(Object key, Participant participant, @Nullable End end) {
            this.key = key;
            this.participant = participant;
            this.end = end;
        }

        /** All of the present transaction with this key, in the order in which they joined. */
        static List<Joined> allOf(Object key) {
            return TransactionSynchronizationManager.getSynchronizations().stream()
                    .filter(Joined.class::isInstance)
                    .map(Joined.class::cast)
                    .filter(joined -> joined.key == key)
                    .toList();
        }

        boolean takesMore() {
            return !rolledBack && laterSavepoints.isEmpty();
        }

        @Override
        public void savepoint(Object savepoint) {
            laterSavepoints.add(savepoint);
        }

        @Override
        public void savepointRollback(Object savepoint) {
            if (!laterSavepoints.contains(savepoint)) {
                rollBack();
            }
        }

        @Override
        public void beforeCommit(boolean readOnly) {
            if (!rolledBack) {
                committing = true;
                participant.beforeCommit();
            }
        }

        @Override
        public void beforeCompletion() {
            completing = true;
        }

        @Override
        public void afterCommit() {
            finish();
        }

        /** Also called for commits without a call of {@link #afterCommit}: see {@link #finish}. */
        @Override
        public void afterCompletion(int status) {
            if (status == STATUS_COMMITTED) {
                finish();
            } else if (!completing) {
                leaveUnknown();
            } else if (status == STATUS_ROLLED_BACK || (end != null && !end.commits)) {
                rollBack();
            } else if (end != null) {
                end.undecided.add(this);
            } else {
                leaveUnknown();
            }
        }

        /**
         * Spring skips some callbacks. A participant that joins during beforeCommit, for example in a late flush, gets
         * no call of beforeCommit. One that joins in a callback after the commit, or follows a callback that throws
         * there, gets a call of afterCompletion only.
         */
        private void finish() {
            if (rolledBack || finished) {
                return;
            }
            finished = true;
            try {
                if (!committing) {
                    participant.beforeCommit();
                }
            } finally {
                participant.afterCommit();
            }
        }

        private void rollBack() {
            if (!rolledBack) {
                rolledBack = true;
                participant.afterRollback();
            }
        }

        private void leaveUnknown() {
            if (!rolledBack && !finished) {
                finished = true;
                participant.afterUnknownOutcome();
            }
        }
    }

    /**
     * The end of one transaction whose manager reports to the listener. It is there from the begin on: if a callback fails
     * before the commit, Spring rolls back without a report.
     */
    private static final class End implements TransactionSynchronization {

        /** Weak, because the transaction is the key of {@link #ends}. */
        private final WeakReference<TransactionExecution> transaction;

        private final List<Joined> undecided = new ArrayList<>();
        private boolean isBeforeCommit;
        private boolean commits;
        private boolean committed;

        private final EndedTransactions ended;

        End(TransactionExecution transaction, EndedTransactions ended) {
            this.transaction = new WeakReference<>(transaction);
            this.ended = ended;
        }

        @Override
        public int getOrder() {
            return Ordered.HIGHEST_PRECEDENCE;
        }

        @Override
        public void beforeCommit(boolean readOnly) {
            isBeforeCommit = true;
        }

        @Override
        public void afterCommit() {
            committed = true;
        }

        @Override
        public void afterCompletion(int status) {
            ended.add(transaction.get());
        }

        /** That of the present transaction. Work that joins an ended transaction has none. */
        static @Nullable End current() {
            return TransactionSynchronizationManager.getSynchronizations().stream()
                    .filter(End.class::isInstance)
                    .map(End.class::cast)
                    .findFirst()
                    .orElse(null);
        }
    }

    /** Called by transaction managers around each begin, commit and rollback. */
    private final class EndListener implements TransactionExecutionListener {

        @Override
        public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
            if (beginFailure == null && hasSynchronizations(transaction)) {
                TransactionSynchronizationManager.registerSynchronization(new End(transaction, ended));
            }
        }

        @Override
        public void beforeCommit(TransactionExecution transaction) {
            end(transaction, true);
        }

        @Override
        public void beforeRollback(TransactionExecution transaction) {
            end(transaction, false);
        }

        private void end(TransactionExecution transaction, boolean commits) {
            End end = hasSynchronizations(transaction) ? End.current() : null;
            if (end != null) {
                end.commits |= commits;
                ends.put(transaction, end);
            }
        }

        private static boolean hasSynchronizations(TransactionExecution transaction) {
            return transaction instanceof DefaultTransactionStatus status
                    && status.isNewSynchronization()
                    && TransactionSynchronizationManager.isSynchronizationActive();
        }

        @Override
        public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
            ended(transaction, commitFailure != null && isRolledBack(commitFailure));
        }

        @Override
        public void afterRollback(TransactionExecution transaction, @Nullable Throwable rollbackFailure) {
            ended(transaction, false);
        }

        private void ended(TransactionExecution transaction, boolean rolledBack) {
            End end = ends.remove(transaction);
            if (end != null) {
                end.undecided.forEach(rolledBack ? Joined::rollBack : Joined::leaveUnknown);
            }
        }

        /**
         * JPA throws its {@code RollbackException} also when the database did not answer the commit. An
         * {@code SQLException} shows that.
         */
        private static boolean isRolledBack(Throwable commitFailure) {
            List<Throwable> causes = Stream.iterate(commitFailure, cause -> cause != null, Throwable::getCause)
                    .limit(MOST_CAUSES)
                    .toList();
            return causes.stream().anyMatch(cause -> cause.getClass().getName().equals(JPA_ROLLBACK))
                    && causes.stream().noneMatch(SQLException.class::isInstance);
        }
    }
}
