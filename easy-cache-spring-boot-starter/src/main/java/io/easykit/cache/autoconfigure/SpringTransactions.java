package io.easykit.cache.autoconfigure;

import io.easykit.cache.Transactions;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transactions that Spring manages on this thread. A participant is a resource of its transaction: gone while that
 * is suspended, back when it goes on.
 */
final class SpringTransactions implements Transactions {

    @Override
    public boolean isActive() {
        return TransactionSynchronizationManager.isActualTransactionActive()
                && TransactionSynchronizationManager.isSynchronizationActive();
    }

    @Override
    public @Nullable Participant current() {
        return (Participant) TransactionSynchronizationManager.getResource(this);
    }

    @Override
    public void enlist(Participant participant) {
        TransactionSynchronizationManager.registerSynchronization(new Enlisted(participant));
        TransactionSynchronizationManager.bindResource(this, participant);
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

    private final class Enlisted implements TransactionSynchronization {

        private final Participant participant;

        Enlisted(Participant participant) {
            this.participant = participant;
        }

        @Override
        public void suspend() {
            TransactionSynchronizationManager.unbindResource(SpringTransactions.this);
        }

        @Override
        public void resume() {
            TransactionSynchronizationManager.bindResource(SpringTransactions.this, participant);
        }

        @Override
        public void beforeCommit(boolean readOnly) {
            participant.beforeCommit();
        }

        @Override
        public void afterCompletion(int status) {
            TransactionSynchronizationManager.unbindResourceIfPossible(SpringTransactions.this);
            participant.afterCompletion(status == STATUS_ROLLED_BACK);
        }
    }
}
