package io.easykit.cache;

import org.jspecify.annotations.Nullable;

/** The root of what this library throws itself. What a loader throws is never wrapped. */
public abstract class EasyCacheException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    protected EasyCacheException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** Without a stack trace: for what is thrown often, and caught nearby. */
    protected EasyCacheException(String message) {
        super(message, null, false, false);
    }
}
