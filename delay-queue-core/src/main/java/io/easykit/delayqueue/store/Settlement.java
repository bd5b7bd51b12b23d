package io.easykit.delayqueue.store;

/** Result of an acknowledge, fail, release or extend. */
public enum Settlement {
    /** Done. */
    APPLIED,
    /** The message is live, but not in flight under this number: another consumer has claimed it since. Nothing changed. */
    STALE,
    /** The message is no longer live. A later message with its id, if there is one, was not claimed yet. Nothing changed. */
    GONE
}
