package io.easykit.cache;

/** Decision of the store for one reader. */
public enum Outcome {

    /** The value may be returned. */
    SUCCESS,

    /** The value may still be returned, and the caller has got the load lease to load a new one. */
    SUCCESS_NEED_QUERY,

    /** There is no value that may be returned, and the caller has got the load lease to load one. */
    NEED_QUERY,

    /** Another reader is loading. */
    NEED_WAIT,

    /** An update is being committed: a value that is loaded now may not be stored. */
    NEED_QUERY_NO_STORE
}
