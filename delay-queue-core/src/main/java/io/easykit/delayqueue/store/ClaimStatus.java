package io.easykit.delayqueue.store;

/** Whether a claim could hand out messages, and if not, why. */
public enum ClaimStatus {
    CLAIMED,
    PAUSED,
    /** The store has answered a later request of this owner already; this one came late. */
    OUTDATED,
    /** No permit is left for due messages. The next due time in the reply is the time of the next permit. */
    THROTTLED,
    /** As many messages as allowed are in flight, and others are due. The reply has no next due time. A wakeup is sent when one ends. */
    FULL
}
