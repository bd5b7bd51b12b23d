package io.easykit.cache.memory;

/** What the network or the server does to a call of a {@link FaultyCacheStore}. */
public enum Fault {
    /** The request never reaches the store. */
    LOST_REQUEST,
    /** The store executes the request, but the reply never reaches the caller. */
    LOST_REPLY,
    /** The server has no room for the request, and answers so. */
    FULL
}
