package io.easykit.delayqueue;

/** When a message that is sent inside a transaction is stored. Outside of one it is stored at once. */
public enum SendPhase {
    /**
     * Stored just before the commit, and cancelled if the transaction rolls back after all. If the message cannot be stored,
     * the transaction fails, so a committed send is always stored. After a crash between store and commit the message of a
     * rolled-back transaction remains. A message that is due before the commit may be delivered before it, and even if the
     * commit fails; a warning names the latter. So handlers should check the current state. If a handler needs rows of the
     * transaction, use a delay that is longer than a commit takes.
     */
    BEFORE_COMMIT,
    /**
     * After the commit. A message of a transaction that never was cannot exist; one that a crash swallowed can, or an outage
     * of the store, which is a {@link BatchSendException} after the fact.
     */
    AFTER_COMMIT,
    /** Stored at once, even if the transaction rolls back. */
    IMMEDIATELY,
    /**
     * Written to the outbox in the application's database by the transaction itself, and stored by a node after the commit. A
     * committed send is delivered although the process dies or the store is away, and one that is rolled back never is. Needs
     * an outbox, and a transaction that writes to its database. A message can be delivered twice after a crash: see the
     * documentation.
     */
    OUTBOX
}
