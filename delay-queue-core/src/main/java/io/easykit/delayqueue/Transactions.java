package io.easykit.delayqueue;

import java.util.Optional;
import java.util.function.Supplier;

/** The transactions of the calling thread, so that sends may take part in them. */
public interface Transactions {

    /** For applications without transactions: every send is stored at once. */
    Transactions NONE = new Transactions() {
        @Override
        public <P extends Participant> Optional<P> join(Object key, Supplier<P> newcomer) {
            return Optional.empty();
        }
    };

    /**
     * The participant that has the key in the transaction of this thread. The first call in a transaction takes it from
     * the supplier and registers it. A transaction that is suspended meanwhile does not count.
     *
     * @param key compared by identity
     * @return empty where no transaction is active
     */
    <P extends Participant> Optional<P> join(Object key, Supplier<P> newcomer);

    /** Told about the end of one transaction, on its thread. */
    interface Participant {

        /** Just before the commit; what it throws rolls the transaction back. For those that join too late, just after it. */
        void beforeCommit();

        /**
         * After the commit, whether or not {@link #beforeCommit} threw; what it throws reaches the caller, although the commit
         * is done, or a log where nobody calls any more.
         */
        void afterCommit();

        /** After a roll-back, whether or not {@link #beforeCommit} was called. Not called when nobody knows the outcome. */
        void afterRollback();
    }
}
