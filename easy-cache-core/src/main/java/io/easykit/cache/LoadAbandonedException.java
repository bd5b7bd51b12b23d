package io.easykit.cache;

import org.jspecify.annotations.Nullable;

/**
 * Thrown by a loader, in the background or at a repetition, that would load, or has loaded, something else than its caller
 * asked for. The value is dropped, and no reader sees the exception.
 */
public final class LoadAbandonedException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    public LoadAbandonedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
