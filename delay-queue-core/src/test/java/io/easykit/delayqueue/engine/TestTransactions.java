package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.Transactions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Transactions whose steps a test takes one by one. */
final class TestTransactions implements Transactions {

    private @Nullable List<Joined> current;

    /** @param savepoint number of savepoints before it joined */
    private record Joined(Object key, int savepoint, Participant participant) {}

    private int savepoints;

    @Override
    @SuppressWarnings("unchecked")
    public <P extends Participant> Optional<P> join(Object key, Function<Optional<P>, P> newcomer) {
        List<Joined> all = current;
        if (all == null) {
            return Optional.empty();
        }
        Optional<Joined> latest =
                all.stream().filter(joined -> joined.key == key).reduce((earlier, later) -> later);
        Optional<P> present = latest.map(joined -> (P) joined.participant);
        if (latest.isEmpty() || latest.get().savepoint < savepoints) {
            P made = newcomer.apply(present);
            all.add(new Joined(key, savepoints, made));
            return Optional.of(made);
        }
        return present;
    }

    void begin() {
        current = new ArrayList<>();
        savepoints = 0;
    }

    /** As a nested transaction does when it begins. */
    void savepoint() {
        savepoints++;
    }

    /** Rolls back to the last savepoint. What comes then belongs to none of those that have joined. */
    void rollBackToSavepoint() {
        List<Joined> all = List.copyOf(current == null ? List.of() : current);
        all.stream().filter(joined -> joined.savepoint == savepoints).forEach(joined -> {
            joined.participant.afterRollback();
            current.remove(joined);
        });
        savepoints++;
    }

    /** Goes on without a transaction, as while one is suspended. */
    void leave() {
        current = null;
    }

    /** What comes just before the commit of the database. */
    void beginCommit() {
        beginCommit(() -> {});
    }

    /** @param afterEach runs after each participant */
    void beginCommit(Runnable afterEach) {
        participants().forEach(participant -> {
            participant.beforeCommit();
            afterEach.run();
        });
    }

    /** What comes just after it. */
    void finishCommit() {
        finishCommit(() -> {});
    }

    /** @param afterEach runs after each participant */
    void finishCommit(Runnable afterEach) {
        List<Participant> told = participants();
        current = null;
        told.forEach(participant -> {
            participant.afterCommit();
            afterEach.run();
        });
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
        return current == null
                ? List.of()
                : current.stream().map(Joined::participant).toList();
    }
}
