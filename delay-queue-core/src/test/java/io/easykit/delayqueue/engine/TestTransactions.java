package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.support.Transactions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Transactions whose steps a test takes one by one. */
final class TestTransactions implements Transactions {

    private @Nullable List<Joined> current;

    private static final class Joined {

        private final Object key;
        private final int savepoint;
        private final Participant participant;
        private boolean rolledBack;

        /** @param savepoint number of savepoints before it joined */
        Joined(Object key, int savepoint, Participant participant) {
            this.key = key;
            this.savepoint = savepoint;
            this.participant = participant;
        }
    }

    private int savepoints;
    private boolean isCommitting;

    @Override
    public boolean isCommitting() {
        return isCommitting;
    }

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
        if (latest.isEmpty() || latest.get().savepoint < savepoints || latest.get().rolledBack) {
            P made = newcomer.apply(present);
            all.add(new Joined(key, savepoints, made));
            return Optional.of(made);
        }
        return present;
    }

    void begin() {
        current = new ArrayList<>();
        savepoints = 0;
        isCommitting = false;
    }

    /** As a nested transaction does when it begins. */
    void savepoint() {
        savepoints++;
    }

    /** Rolls back to the last savepoint. Later sends join a new participant. */
    void rollBackToSavepoint() {
        List<Joined> all = List.copyOf(current == null ? List.of() : current);
        all.stream()
                .filter(joined -> joined.savepoint == savepoints && !joined.rolledBack)
                .forEach(joined -> {
                    joined.rolledBack = true;
                    joined.participant.afterRollback();
                });
        savepoints++;
    }

    /** Goes on without a transaction, as while one is suspended. */
    void leave() {
        current = null;
    }

    /** As another thread would do that has a transaction of its own. */
    Suspended suspend() {
        Suspended suspended = new Suspended(current, savepoints, isCommitting);
        current = null;
        return suspended;
    }

    /** The transaction that was suspended is the present one again. */
    void resume(Suspended suspended) {
        current = suspended.joined;
        savepoints = suspended.savepoints;
        isCommitting = suspended.isCommitting;
    }

    /** A transaction that goes on later. */
    static final class Suspended {

        private final @Nullable List<Joined> joined;
        private final int savepoints;
        private final boolean isCommitting;

        private Suspended(@Nullable List<Joined> joined, int savepoints, boolean isCommitting) {
            this.joined = joined;
            this.savepoints = savepoints;
            this.isCommitting = isCommitting;
        }
    }

    /** What comes just before the commit of the database. */
    void beginCommit() {
        beginCommit(() -> {});
    }

    /** @param afterEach runs after each participant */
    void beginCommit(Runnable afterEach) {
        isCommitting = true;
        participants().forEach(participant -> {
            participant.beforeCommit();
            afterEach.run();
        });
    }

    /** What comes just after it. */
    void finishCommit() {
        finishCommit(() -> {});
    }

    /**
     * All participants are called, and the first failure is thrown at the end, as Spring does.
     *
     * @param afterEach runs after each participant
     */
    void finishCommit(Runnable afterEach) {
        List<Participant> participants = participants();
        current = null;
        RuntimeException first = null;
        for (Participant participant : participants) {
            try {
                participant.afterCommit();
            } catch (RuntimeException e) {
                first = first == null ? e : first;
            }
            afterEach.run();
        }
        if (first != null) {
            throw first;
        }
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

    /** Whether the database has committed is unknown. */
    void loseOutcome() {
        participants().forEach(Participant::afterUnknownOutcome);
        current = null;
    }

    private List<Participant> participants() {
        return current == null
                ? List.of()
                : current.stream()
                        .filter(joined -> !joined.rolledBack)
                        .map(joined -> joined.participant)
                        .toList();
    }
}
