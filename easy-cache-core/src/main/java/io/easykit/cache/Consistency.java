package io.easykit.cache;

/** Consistency of a read that overlaps or follows an update. */
public enum Consistency {

    /** After an update the old value may be returned for at most the stale window, then never. */
    AP,

    /** After an update returned, and while it commits, the old value is never returned. */
    CP
}
