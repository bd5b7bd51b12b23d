package io.easykit.cache;

/** Thrown by a {@link ValueCodec} for a value that must not be stored. The message names the reason and the remedy. */
public final class UncacheableValueException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    public UncacheableValueException(String message) {
        super(message, null);
    }
}
