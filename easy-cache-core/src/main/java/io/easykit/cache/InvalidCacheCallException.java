package io.easykit.cache;

import org.jspecify.annotations.Nullable;

/** A call for which the cache cannot keep its guarantees. Nothing was run, unless the message says so. It names the remedy. */
public final class InvalidCacheCallException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    private final String cacheName;

    public InvalidCacheCallException(String cacheName, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.cacheName = cacheName;
    }

    /** The prefix of the cache. */
    public String cacheName() {
        return cacheName;
    }
}
