package io.easykit.delayqueue;

/** When a message that is sent inside a transaction is stored. Outside of one it is stored at once. */
public enum SendPhase {
    /**
     * Just before the commit, and cancelled if the transaction rolls back after all. What cannot be stored fails the
     * transaction, so a committed send is stored. A message of a transaction that never was remains after a crash between
     * store and commit. One that is due before the commit is done may be delivered before, and although the commit fails;
     * a warning tells of the latter. So handlers look at the state again, and what needs the rows of its transaction has
     * a delay longer than a commit takes.
     */
    BEFORE_COMMIT,
    /**
     * After the commit. A message of a transaction that never was cannot exist; one that a crash swallowed can, or an outage
     * of the store, which is a {@link BatchSendException} after the fact.
     */
    AFTER_COMMIT,
    /** At once, whatever becomes of the transaction. */
    IMMEDIATELY
}
