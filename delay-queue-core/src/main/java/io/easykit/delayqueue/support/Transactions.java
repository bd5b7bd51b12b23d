package io.easykit.delayqueue.support;

import java.util.Optional;
import java.util.function.Function;

/** The transactions of the calling thread, so that sends may take part in them. */
public interface Transactions {

    /** For applications without transactions: every send is stored at once. */
    Transactions NONE = new Transactions() {
        @Override
        public <P extends Participant> Optional<P> join(Object key, Function<Optional<P>, P> newcomer) {
            return Optional.empty();
        }

        @Override
        public boolean isCommitting() {
            return false;
        }
    };

    /**
     * The participant that has the key in the transaction of this thread. The first call in a transaction makes it and
     * registers it. A transaction that is suspended meanwhile does not count. A participant belongs to the latest savepoint before
     * it joined, so a transaction with savepoints has several.
     *
     * @param key compared by identity
     * @param newcomer makes a participant, given the latest one that has joined this transaction with the key, also if it was
     *     rolled back to a savepoint
     * @return empty where no transaction is active
     */
    <P extends Participant> Optional<P> join(Object key, Function<Optional<P>, P> newcomer);

    /**
     * Whether the callbacks before the commit of the present transaction have begun, so that a participant that joins now gets no
     * call before the commit. True if this is not known.
     */
    boolean isCommitting();

    /** Callbacks at the end of one transaction, on its thread. */
    interface Participant {

        /**
         * Called just before the commit; an exception rolls the transaction back. Called just after the commit if the caller
         * joined too late.
         */
        void beforeCommit();

        /**
         * Called after the commit, whether or not {@link #beforeCommit} threw. An exception reaches the caller although the
         * transaction is committed, or is logged if there is no caller.
         */
        void afterCommit();

        /** Called after a rollback, whether or not {@link #beforeCommit} was called. Not called if the outcome is unknown. */
        void afterRollback();

        /**
         * Called instead of {@link #afterCommit} and {@link #afterRollback} if nobody knows whether the transaction has
         * committed, whether or not {@link #beforeCommit} was called.
         */
        void afterUnknownOutcome();
    }
}
