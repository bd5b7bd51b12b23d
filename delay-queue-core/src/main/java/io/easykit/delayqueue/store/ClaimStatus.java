package io.easykit.delayqueue.store;

/** Whether a claim could hand out. */
public enum ClaimStatus {
    CLAIMED,
    PAUSED,
    /** This owner has had the answer to a later request; this one came late. */
    OUTDATED,
    /** No permit is left for due messages. The next due time in the reply is the time of the next permit. */
    THROTTLED,
    /** As many messages are in flight as may be, and others are due. The reply has no next due time. A wakeup comes when one ends. */
    FULL
}
