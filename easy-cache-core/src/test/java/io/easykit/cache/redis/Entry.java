package io.easykit.cache.redis;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The key of the model as it lies in Redis after some step. Equal entries are one object, see {@link Laboratory}.
 *
 * <p>Field values are spelled in Latin-1, so that a {@code char} is a byte.
 */
final class Entry {

    /** Deadline of a key that never expires. */
    static final int NEVER = -1;

    private final SortedMap<String, String> fields;
    private final int deadline;

    private Entry(SortedMap<String, String> fields, int deadline) {
        this.fields = fields;
        this.deadline = deadline;
    }

    /**
     * @param deadline the tick in the course of which the key expires
     */
    record Content(SortedMap<String, String> fields, int deadline) {

        static final Content NOTHING = new Content(new TreeMap<>(), NEVER);

        Entry toEntry() {
            return new Entry(fields, deadline);
        }
    }

    boolean exists() {
        return !fields.isEmpty();
    }

    SortedMap<String, String> fields() {
        return fields;
    }

    int deadline() {
        return deadline;
    }

    boolean has(String field) {
        return fields.containsKey(field);
    }

    /** The values by their fields: one for each version of the application. */
    SortedMap<String, String> values() {
        return fields.subMap("v", "w");
    }

    /** The tick at which a value is no longer valid. */
    int expires(String field) {
        return Laboratory.tickOf(sixBytes(fields.get(field), 0));
    }

    /** What an application stored. */
    String envelope(String field) {
        return fields.get(field).substring(10);
    }

    /** The tick that a field holds in decimal. */
    int tick(String field) {
        return Laboratory.tickOf(Long.parseLong(fields.get(field)));
    }

    /** A version of the data, as the version of the application stores it that uses a field. */
    static String envelopeOf(String field, int version) {
        return field.charAt(field.length() - 1) + Integer.toString(version);
    }

    static boolean isOf(String field, String envelope) {
        return envelope.charAt(0) == field.charAt(field.length() - 1);
    }

    /** The version of the data that an envelope holds. */
    static int versionOf(String envelope) {
        return Integer.parseInt(envelope.substring(1));
    }

    /** The tick at which a load lease ends; negative if it was released. */
    static int loadLeaseEnd(String loadLease) {
        return Laboratory.tickOf(sixBytes(loadLease, 8));
    }

    private static long sixBytes(String bytes, int offset) {
        byte[] padded = ("\0\0" + bytes.substring(offset, offset + 6)).getBytes(StandardCharsets.ISO_8859_1);
        return ByteBuffer.wrap(padded).getLong();
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("{");
        fields.forEach((name, value) -> {
            String spelled =
                    switch (name.charAt(0)) {
                        case 'v' -> "version " + versionOf(envelope(name)) + " until " + expires(name);
                        case 'f' -> value.substring(0, 4).trim() + " until " + loadLeaseEnd(value);
                        default -> "until " + tick(name);
                    };
            text.append(name).append(": ").append(spelled).append(", ");
        });
        return exists() ? text + "expires " + deadline + "}" : "nothing";
    }
}
