package io.easykit.cache.redis;

import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Envelope;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * The fields of an entry's hash, as a plain read sees them. In the normal state there is one, the value.
 *
 * <table>
 * <caption>Fields</caption>
 * <tr><td>{@code v<fingerprint>}</td><td>6 bytes end of life (server's ms), 4 bytes epoch of the prefix, envelope</td></tr>
 * <tr><td>{@code f}</td><td>8 bytes fencing token, 6 bytes end of the load lease (0: released)</td></tr>
 * <tr><td>{@code s}</td><td>staleUntil, in the server's ms</td></tr>
 * <tr><td>{@code i:<token>}</td><td>the end of one update's lease</td></tr>
 * <tr><td>{@code i}</td><td>the latest of these</td></tr>
 * <tr><td>{@code x}</td><td>end of the key's life when its values were stored, if it outlives them</td></tr>
 * </table>
 *
 * <p>While two versions of an application with different structures of the value's type run, there is a value for each. They
 * share everything else: an invalidation drops them all. The key expires with the first of them, so that a plain read never
 * finds an expired one. Beside the field {@code x} it may: there a plain read compares the end of the value's life with the
 * server's clock, whatever the reader's own settings are.
 */
final class EntryFields {

    /** First byte of the fields of values. */
    private static final byte VALUE = 'v';

    private static final byte LOAD_LEASE = 'f';
    private static final byte STALE_UNTIL = 's';
    private static final byte KEPT_UNTIL = 'x';

    private static final int VALUE_HEADER = 10;
    private static final int EPOCH_OFFSET = 6;
    static final int SHORTEST_VALUE = 12;
    static final int LOAD_LEASE_LENGTH = 14;
    static final int LEASE_END_OFFSET = 8;

    private EntryFields() {}

    /** The field of the values of a type. */
    static String valueField(String fingerprint) {
        return (char) VALUE + fingerprint;
    }

    static Envelope envelope(byte[] value) {
        return Envelope.wrap(value, VALUE_HEADER);
    }

    /**
     * Reads an entry.
     *
     * @param fingerprint of the type whose values the caller can read
     * @param epoch a value of an older epoch is no value
     */
    static Snapshot snapshot(Map<byte[], byte[]> fields, String fingerprint, long epoch, EntryClock clock) {
        byte[] value = null;
        int locks = 0;
        boolean outlived = false;
        boolean invalidated = false;
        boolean loading = false;
        boolean updating = false;
        for (Map.Entry<byte[], byte[]> field : fields.entrySet()) {
            byte first = firstByte(field.getKey());
            locks += first == VALUE || first == KEPT_UNTIL ? 0 : 1;
            switch (first) {
                case VALUE -> value = isOf(fingerprint, field.getKey()) ? field.getValue() : value;
                case STALE_UNTIL -> invalidated = true;
                case KEPT_UNTIL -> outlived = true;
                case LOAD_LEASE -> loading = isLeased(field.getValue());
                default -> updating = true;
            }
        }
        if (value == null || value.length < SHORTEST_VALUE || epochOf(value) < epoch) {
            return new Snapshot(null, false, false, invalidated, loading, updating, null);
        }
        boolean fresh = locks == 0 && (!outlived || clock.isAhead(endOfLife(value)));
        return new Snapshot(
                envelope(value),
                fresh,
                outlived && clock.isOver(endOfLife(value)),
                invalidated,
                loading,
                updating,
                fresh ? clock.remaining(endOfLife(value)) : null);
    }

    private static byte firstByte(byte[] name) {
        return name.length == 0 ? 0 : name[0];
    }

    private static boolean isOf(String fingerprint, byte[] field) {
        if (field.length != fingerprint.length() + 1) {
            return false;
        }
        for (int i = 1; i < field.length; i++) {
            if (field[i] != fingerprint.charAt(i - 1)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isLeased(byte[] loadLease) {
        return loadLease.length == LOAD_LEASE_LENGTH && leaseEnd(loadLease) > 0;
    }

    /** In ms of the server's clock; 0 if the lease was released. */
    static long leaseEnd(byte[] loadLease) {
        return sixBytes(loadLease, LEASE_END_OFFSET);
    }

    /** In ms of the server's clock. */
    static long endOfLife(byte[] value) {
        return sixBytes(value, 0);
    }

    static long epochOf(byte[] value) {
        return Integer.toUnsignedLong(ByteBuffer.wrap(value).getInt(EPOCH_OFFSET));
    }

    private static long sixBytes(byte[] bytes, int offset) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes, offset, 6);
        return (long) Short.toUnsignedInt(buffer.getShort()) << 32 | Integer.toUnsignedLong(buffer.getInt());
    }

    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    static byte[] bytes(long number) {
        return bytes(Long.toString(number));
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
