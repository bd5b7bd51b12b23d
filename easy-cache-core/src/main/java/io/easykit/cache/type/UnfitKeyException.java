package io.easykit.cache.type;

/** A value that cannot be a part of a key, or a text that no key can hold. The message names the remedy. */
public final class UnfitKeyException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    UnfitKeyException(String message) {
        super(message);
    }
}
