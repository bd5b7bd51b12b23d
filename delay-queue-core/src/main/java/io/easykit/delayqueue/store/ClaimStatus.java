package io.easykit.delayqueue.store;

/** Whether a claim could hand out. */
public enum ClaimStatus {
    CLAIMED,
    PAUSED,
    /** This owner has had the answer to a later request; this one came late. */
    OUTDATED
}
