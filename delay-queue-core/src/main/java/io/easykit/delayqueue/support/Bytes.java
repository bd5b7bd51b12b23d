package io.easykit.delayqueue.support;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** An array of bytes as a value, compared by content. */
public final class Bytes {

    public static final Bytes NONE = new Bytes(new byte[0]);

    private final byte[] array;

    private Bytes(byte[] array) {
        this.array = array;
    }

    /** Wraps the array without copying it; the caller does not touch it any more. */
    public static Bytes of(byte[] array) {
        return new Bytes(array);
    }

    /** The array itself, not a copy; to be read only. */
    public byte[] array() {
        return array;
    }

    public int length() {
        return array.length;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Bytes that && Arrays.equals(array, that.array);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(array);
    }

    /** The length only: payloads do not belong into logs. */
    @Override
    public String toString() {
        return array.length + " bytes";
    }
}
