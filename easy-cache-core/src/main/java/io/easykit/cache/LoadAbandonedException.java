package io.easykit.cache;

import org.jspecify.annotations.Nullable;

/**
 * Thrown by a loader that runs in the background or again, if it would load, or has loaded, another value than its caller has
 * requested. The value is dropped, and no reader receives the exception.
 */
public final class LoadAbandonedException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    public LoadAbandonedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
