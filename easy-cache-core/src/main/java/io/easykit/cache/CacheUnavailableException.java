package io.easykit.cache;

import org.jspecify.annotations.Nullable;

/**
 * Redis is away and the settings require a failure: an update that could not be prepared before its commit, or a CP read
 * under {@code FAIL}. Nothing was changed; the call may be repeated.
 */
public final class CacheUnavailableException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    private final String clusterId;

    public CacheUnavailableException(String clusterId, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.clusterId = clusterId;
    }

    public String clusterId() {
        return clusterId;
    }
}
