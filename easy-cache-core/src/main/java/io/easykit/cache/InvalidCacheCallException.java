package io.easykit.cache;

import org.jspecify.annotations.Nullable;

/** A call for which the cache cannot keep its guarantees. Nothing was run, unless the message says so. It names the remedy. */
public final class InvalidCacheCallException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    private final String prefix;

    public InvalidCacheCallException(String prefix, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.prefix = prefix;
    }

    /** The prefix of the cache. */
    public String prefix() {
        return prefix;
    }
}
