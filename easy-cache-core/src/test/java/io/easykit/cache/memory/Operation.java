package io.easykit.cache.memory;

/** The calls of a {@link FaultyCacheStore} by their kinds. */
public enum Operation {
    READ,
    FETCH,
    PEEK,
    STORE,
    RELEASE_LOAD,
    PREPARE,
    INVALIDATE,
    REMOVE_UNREADABLE,
    DROP,
    EPOCHS,
    RAISE_EPOCH,
    MARK,
    PREPARE_CLEAR,
    END_EXPIRED_CLEARS,
    LEASE,
    PROBE
}
