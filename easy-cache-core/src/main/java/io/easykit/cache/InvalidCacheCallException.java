package io.easykit.cache;

import org.jspecify.annotations.Nullable;

/** A call that cannot keep the promises of the cache. Nothing was run, or the message says what was. It names the remedy. */
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
