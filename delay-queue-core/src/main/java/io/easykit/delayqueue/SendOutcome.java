package io.easykit.delayqueue;

/** Result of a send. */
public enum SendOutcome {
    /** Stored. */
    STORED,
    /** Stored before by this very send, which was repeated. */
    REPLAYED,
    /** A message with this id is live already; nothing has changed. */
    DUPLICATE
}
