package io.easykit.delayqueue;

/** Result of a cancel or a reschedule. */
public enum ChangeOutcome {
    /** The message was cancelled or rescheduled. */
    APPLIED,
    /** No such message is live. */
    GONE,
    /** Too late: a consumer has it. */
    IN_FLIGHT,
    /** The message is dead: redrive or purge it. */
    DEAD,
    /** The id is live, but it is another message than the one that was meant. */
    OTHER_INCARNATION
}
