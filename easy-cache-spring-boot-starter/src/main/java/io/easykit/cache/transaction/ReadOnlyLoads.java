package io.easykit.cache.transaction;

/** Where a load runs whose caller is in a read-only transaction. */
public enum ReadOnlyLoads {
    /** Outside the transaction, on a separate connection. The value is cached. */
    SEPARATE,
    /** Inside the transaction. The value is not cached. */
    ATTACHED
}
