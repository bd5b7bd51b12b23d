package io.easykit.cache.springcache;

import io.easykit.cache.EasyCacheException;
import org.jspecify.annotations.Nullable;

/** A call of a Spring cache that cannot keep the promises of easy-cache. The message names the remedy. */
public final class InvalidCacheCallException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    private final String cacheName;

    InvalidCacheCallException(String cacheName, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.cacheName = cacheName;
    }

    public String cacheName() {
        return cacheName;
    }
}
