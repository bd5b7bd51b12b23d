package io.easykit.cache;

/** What the entry's store says to one reader. */
public enum Outcome {

    /** The value may be returned. */
    SUCCESS,

    /** The value may still be returned, and the caller is elected to load a new one. */
    SUCCESS_NEED_QUERY,

    /** There is no value that may be returned, and the caller is elected to load one. */
    NEED_QUERY,

    /** Somebody else is loading. */
    NEED_WAIT,

    /** An update is being committed: what is loaded now may not be stored. */
    NEED_QUERY_NO_STORE
}
