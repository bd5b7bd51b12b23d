package io.easykit.delayqueue;

/** When a message that is sent inside a transaction is stored. Outside of one it is stored at once. */
public enum SendPhase {
    /**
     * Just before the commit, and cancelled if the transaction rolls back after all. What cannot be stored fails the
     * transaction, so a committed send is stored. Only a crash between store and commit leaves a message of a transaction
     * that never was: handlers look at the state again.
     */
    BEFORE_COMMIT,
    /** After the commit. A message of a transaction that never was cannot exist; one that a crash swallowed can. */
    AFTER_COMMIT,
    /** At once, whatever becomes of the transaction. */
    IMMEDIATELY
}
