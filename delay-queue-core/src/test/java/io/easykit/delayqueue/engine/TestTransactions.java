package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.Transactions;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Transactions whose steps a test takes one by one. */
final class TestTransactions implements Transactions {

    private @Nullable IdentityHashMap<Object, Participant> current;

    @Override
    @SuppressWarnings("unchecked")
    public <P extends Participant> Optional<P> join(Object key, Supplier<P> newcomer) {
        return current == null ? Optional.empty() : Optional.of((P) current.computeIfAbsent(key, k -> newcomer.get()));
    }

    void begin() {
        current = new IdentityHashMap<>();
    }

    /** Goes on without a transaction, as while one is suspended. */
    void leave() {
        current = null;
    }

    /** What comes just before the commit of the database. */
    void beginCommit() {
        participants().forEach(Participant::beforeCommit);
    }

    /** What comes just after it. */
    void finishCommit() {
        List<Participant> told = participants();
        current = null;
        told.forEach(Participant::afterCommit);
    }

    void commit() {
        beginCommit();
        finishCommit();
    }

    /** The database refuses the commit. */
    void failCommit() {
        beginCommit();
        rollback();
    }

    void rollback() {
        participants().forEach(Participant::afterRollback);
        current = null;
    }

    /** Nobody knows whether the database has committed. */
    void loseOutcome() {
        participants().forEach(Participant::afterUnknownOutcome);
        current = null;
    }

    private List<Participant> participants() {
        return current == null ? List.of() : List.copyOf(current.values());
    }
}
