package io.easykit.cache;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The transactions of the application, as far as a cache must know them. */
public interface Transactions {

    /** Nothing is ever transactional: updates are announced and ended around the call. */
    Transactions NONE = new Transactions() {
        @Override
        public boolean isActive() {
            return false;
        }

        @Override
        public @Nullable Participant current() {
            return null;
        }

        @Override
        public void enlist(Participant participant) {
            throw new IllegalStateException("There is no transaction to enlist in");
        }
    };

    /** Whether an actual transaction (not a mere synchronization) is active on this thread. */
    boolean isActive();

    /** Who enlisted in this thread's present transaction; null if nobody did, or there is none. */
    @Nullable Participant current();

    /** Makes a participant hear of the end of this thread's present transaction. At most one for each. */
    void enlist(Participant participant);

    /** How long the present transaction may still take, if that is known. */
    default @Nullable Duration timeout() {
        return null;
    }

    /** Hears of the end of a transaction. */
    interface Participant {

        /** Before the commit; an exception rolls the transaction back. Not called on a rollback. */
        void beforeCommit();

        /**
         * After the end, whatever it was.
         *
         * @param rolledBack true if the transaction was certainly rolled back; false if it was committed, or nobody knows
         */
        void afterCompletion(boolean rolledBack);
    }
}
