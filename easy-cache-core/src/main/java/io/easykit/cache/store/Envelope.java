package io.easykit.cache.store;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A value as it is stored: one byte format version, one byte kind, then the codec's bytes. The version lets the format
 * change under a rolling deploy: what an older node cannot read is a miss to it.
 */
public final class Envelope {

    /** Of the format. */
    public static final byte VERSION = 1;

    private static final int HEADER = 2;

    private final byte[] bytes;
    private final int offset;

    private Envelope(byte[] bytes, int offset) {
        this.bytes = bytes;
        this.offset = offset;
    }

    /**
     * A view of the stored bytes from {@code offset} on. Not copied, not checked: bytes that are no envelope have no {@link
     * #kind()}.
     */
    public static Envelope wrap(byte[] bytes, int offset) {
        return new Envelope(bytes, offset);
    }

    public static Envelope of(Kind kind, byte[] payload) {
        byte[] bytes = new byte[HEADER + payload.length];
        bytes[0] = VERSION;
        bytes[1] = kind.code;
        System.arraycopy(payload, 0, bytes, HEADER, payload.length);
        return new Envelope(bytes, 0);
    }

    /** What kind of value this holds; null if it is of another version, or no envelope at all. */
    public @Nullable Kind kind() {
        int length = bytes.length - offset;
        if (length < HEADER || bytes[offset] != VERSION) {
            return null;
        }
        return Kind.of(bytes[offset + 1]);
    }

    public byte[] payload() {
        return Arrays.copyOfRange(bytes, offset + HEADER, bytes.length);
    }

    /** The whole as it is to be stored. */
    public byte[] toBytes() {
        return offset == 0 ? bytes : Arrays.copyOfRange(bytes, offset, bytes.length);
    }

    /** The kind of the bytes after the header. */
    public enum Kind {
        /** The codec's bytes of a value. */
        VALUE(0),
        /** Nothing: the value is null. */
        NULL(1),
        /** Nothing: the value is {@code Optional.empty()}. */
        EMPTY_OPTIONAL(2);

        private final byte code;

        Kind(int code) {
            this.code = (byte) code;
        }

        static @Nullable Kind of(byte code) {
            return switch (code) {
                case 0 -> VALUE;
                case 1 -> NULL;
                case 2 -> EMPTY_OPTIONAL;
                default -> null;
            };
        }
    }
}
