package io.easykit.cache;

/** Where a value is reloaded while an older one may still be returned: near the end of its TTL, or inside the stale window. */
public enum Reload {

    /** On a thread of the cache; no reader waits. Falls back to {@link #CALLER} if the loader cannot leave its thread. */
    BACKGROUND,

    /**
     * By one reader on its own thread, which waits for the value; the others get the older one. For loaders that depend on
     * state of the calling thread (a tenant or a security context in a {@code ThreadLocal}) which cannot be propagated.
     * There is no refresh ahead: a value is reloaded when its TTL is over.
     */
    CALLER
}
