package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.Transactions;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Joins the transaction that Spring manages on this thread. Suspending a transaction suspends its synchronizations, and
 * with them its participants.
 *
 * <p>A participant belongs to the latest savepoint before it joined, if any. A rollback to that savepoint, as of a
 * nested transaction, ends it; later messages need a new participant.
 */
final class SpringTransactions implements Transactions {

    @Override
    public <P extends Participant> Optional<P> join(Object key, Supplier<P> newcomer) {
        if (!TransactionSynchronizationManager.isActualTransactionActive()
                || !TransactionSynchronizationManager.isSynchronizationActive()) {
            return Optional.empty();
        }
        return Optional.of(SpringTransactions.<P>joined(key).orElseGet(() -> register(key, newcomer.get())));
    }

    /** Participants of one key all have the type of its caller. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <P extends Participant> Optional<P> joined(Object key) {
        return TransactionSynchronizationManager.getSynchronizations().stream()
                .filter(other -> other instanceof Joined joined && joined.takesMoreOf(key))
                .map(other -> (P) ((Joined) other).participant)
                .findFirst();
    }

    private static <P extends Participant> P register(Object key, P participant) {
        TransactionSynchronizationManager.registerSynchronization(new Joined(key, participant));
        return participant;
    }

    private static final class Joined implements TransactionSynchronization {

        private final Object key;
        private final Participant participant;
        private final Set<Object> laterSavepoints = Collections.newSetFromMap(new IdentityHashMap<>());
        private boolean rolledBack;
        private boolean committing;
        private boolean finished;

        Joined(Object key, Participant participant) {
            this.key = key;
            this.participant = participant;
        }

        boolean takesMoreOf(Object wanted) {
            return key == wanted && !rolledBack && laterSavepoints.isEmpty();
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
        public void afterCommit() {
            finish();
        }

        /** Also called for commits without a call of {@link #afterCommit}: see {@link #finish}. */
        @Override
        public void afterCompletion(int status) {
            if (status == STATUS_ROLLED_BACK) {
                rollBack();
            } else if (status == STATUS_COMMITTED) {
                finish();
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
    }
}
