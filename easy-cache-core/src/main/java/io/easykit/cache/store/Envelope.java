package io.easykit.cache.store;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A value as it is stored: one byte format version, one byte kind, then the codec's bytes. The version lets the format
 * change under a rolling deploy: what an older node cannot read is a miss to it. A value with a TTL of its own has another
 * version, and 6 bytes TTL in ms after the kind.
 */
public final class Envelope {

    /** Version of the format without a TTL. */
    public static final byte VERSION = 1;

    /** Version of the format with a TTL. The script {@code fetch} reads it. */
    public static final byte VERSION_WITH_TTL = 2;

    private static final int HEADER = 2;
    private static final int HEADER_WITH_TTL = 8;

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

    /** Kind of the value; null if the envelope is of another version, or the bytes are no envelope. */
    public @Nullable Kind kind() {
        int length = bytes.length - offset;
        if (length < HEADER || !(bytes[offset] == VERSION || hasTtl())) {
            return null;
        }
        return Kind.of(bytes[offset + 1]);
    }

    private boolean hasTtl() {
        return bytes.length - offset >= HEADER_WITH_TTL && bytes[offset] == VERSION_WITH_TTL;
    }

    /** The TTL that the value itself has decided; null if it has the TTL of its cache. */
    public @Nullable Duration ttl() {
        if (!hasTtl()) {
            return null;
        }
        ByteBuffer header = ByteBuffer.wrap(bytes, offset + HEADER, HEADER_WITH_TTL - HEADER);
        return Duration.ofMillis(
                (long) Short.toUnsignedInt(header.getShort()) << 32 | Integer.toUnsignedLong(header.getInt()));
    }

    /** The same value with a TTL of its own. */
    public Envelope withTtl(Duration ttl) {
        byte[] payload = payload();
        long millis = ttl.toMillis();
        ByteBuffer whole = ByteBuffer.allocate(HEADER_WITH_TTL + payload.length)
                .put(VERSION_WITH_TTL)
                .put(bytes[offset + 1])
                .putShort((short) (millis >> 32))
                .putInt((int) millis)
                .put(payload);
        return new Envelope(whole.array(), 0);
    }

    public byte[] payload() {
        return Arrays.copyOfRange(bytes, offset + (hasTtl() ? HEADER_WITH_TTL : HEADER), bytes.length);
    }

    /** All bytes, as they are stored. */
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
