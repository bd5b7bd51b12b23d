package io.easykit.cache;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** The transactions of the application, as far as the cache observes them. */
public interface Transactions {

    /** Nothing is ever transactional: updates are prepared and ended around the call. */
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

    /** The participant of this thread's present transaction; null if there is none. */
    @Nullable Participant current();

    /**
     * The participants of suspended transactions around the present one whose connections are still bound to this thread, as while
     * a transaction of another manager runs. Methods called now can see their uncommitted work.
     */
    default Collection<Participant> around() {
        return List.of();
    }

    /** Registers the participant of this thread's present transaction. At most one for each transaction. */
    void enlist(Participant participant);

    /**
     * Whether a transaction is open on this thread whose end cannot be observed. An update in it stays prepared until its
     * lease expires.
     */
    default boolean isEndHidden() {
        return false;
    }

    /**
     * Finds a transaction of this thread that has ended, but whose connection is still in use, as in {@code afterCommit} and
     * {@code afterCompletion}. Work on it is committed when the connection is given back.
     *
     * @return true while that commit is still to come, callable on any thread; null if there is no such transaction
     */
    default @Nullable BooleanSupplier lateCommit() {
        return null;
    }

    /** Whether another transaction is open on this thread that commits on its own, inside the present one. */
    default boolean hasInner() {
        return false;
    }

    /** How long the present transaction may still take, if that is known. */
    default @Nullable Duration timeout() {
        return null;
    }

    /**
     * Opens the scope for the loads of one read on this thread, before the read waits for anybody. The same thread closes
     * it.
     */
    default LoadScope openLoadScope() {
        return isActive() ? LoadScope.attached("inside a transaction") : LoadScope.DIRECT;
    }

    /** The scope for a load that this thread hands to another one. */
    default LoadScope backgroundScope() {
        return LoadScope.DIRECT;
    }

    /**
     * Runs an action in a new transaction, if the application has a transaction manager for it; else as it is. Called only
     * while no transaction is active. The transaction is rolled back if the action throws a {@code RuntimeException} or an
     * {@code Error}, and committed if it returns or throws a checked exception, like that of a method declared
     * {@code @Transactional}.
     *
     * @throws X the exception of the action, the very same object
     */
    default <T, X extends Throwable> @Nullable T inNewTransaction(Action<T, X> action) throws X {
        return action.run();
    }

    /** Is called back at the end of a transaction. */
    interface Participant {

        /**
         * Called before the commit; an exception rolls the transaction back. Not called on a rollback. May be called a second
         * time.
         */
        void beforeCommit();

        /**
         * Called before another transaction of this thread commits, while this one is still open or suspended. An exception rolls
         * the other one back. Its callbacks after the commit may begin and commit further ones before it has ended.
         *
         * @param inner identity of the other transaction
         */
        default void beforeInnerCommit(Object inner) {}

        /**
         * Called after the other transaction has ended, committed or not. On a rollback {@link #beforeInnerCommit} may not have been
         * called.
         *
         * @param inner identity of the other transaction
         * @param committed whether it was certainly committed
         */
        default void afterInnerCompletion(Object inner, boolean committed) {}

        /** Called after the end, committed or not. */
        void afterCompletion(Completion completion);
    }

    /** How a transaction ended. */
    enum Completion {

        /** It was certainly rolled back. */
        ROLLED_BACK,

        /** It was committed, or has ended in another way that is over. */
        ENDED,

        /** Its commit failed without an answer of the database, which may still carry it out. */
        UNKNOWN,

        /** It is still open: its work is committed, or rolled back, when its connection is given back. */
        LEFT_OPEN
    }
}
