package io.easykit.cache;

import org.jspecify.annotations.Nullable;

/**
 * An {@link EntryStore} could not answer. Callers of the cache never see it: they get the method's value.
 *
 * @see CacheUnavailableException what a caller of a CP cache may see
 */
public final class StoreUnavailableException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    private final boolean ill;

    /**
     * @param ill whether this speaks of the state of the server (lost, slow, loading, read-only …) and not of this one
     *     command
     */
    public StoreUnavailableException(String message, boolean ill, @Nullable Throwable cause) {
        super(message, cause);
        this.ill = ill;
    }

    /** For calls that are not let through; a trace would cost each of them more than all the rest. */
    StoreUnavailableException(String message) {
        super(message);
        this.ill = false;
    }

    public boolean isIll() {
        return ill;
    }
}
