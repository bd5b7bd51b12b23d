package io.easykit.cache;

/** A key that does not name exactly one entry: no part, a null part, or a part without a stable text. */
public final class InvalidCacheKeyException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    public InvalidCacheKeyException(String message) {
        super(message, null);
    }
}
