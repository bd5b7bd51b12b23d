package io.easykit.cache;

import org.jspecify.annotations.Nullable;

/** Root of the exceptions of this library. Exceptions of loaders are never wrapped. */
public abstract class EasyCacheException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    protected EasyCacheException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** Without a stack trace: for exceptions that are thrown often, and caught nearby. */
    protected EasyCacheException(String message) {
        super(message, null, false, false);
    }
}
