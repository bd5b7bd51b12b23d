package io.easykit.delayqueue.store;

/** What became of an acknowledge, fail, release or extend. */
public enum Settlement {
    APPLIED,
    /** The message is live, but not in flight under this number: another consumer has claimed it since. Nothing changed. */
    STALE,
    /** The message is no longer live, or not claimed in this life. Nothing changed. */
    GONE
}
