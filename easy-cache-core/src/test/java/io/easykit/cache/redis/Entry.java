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

    /** What a key has that never expires. */
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

    /** The tick at which the value is no longer valid. */
    int expires() {
        return Laboratory.tickOf(sixBytes(fields.get("v"), 0));
    }

    /** The version of the data that the value holds. */
    int version() {
        return versionOf(fields.get("v").substring(10));
    }

    /** The tick that a field holds in decimal. */
    int tick(String field) {
        return Laboratory.tickOf(Long.parseLong(fields.get(field)));
    }

    static int versionOf(String envelope) {
        return Integer.parseInt(envelope.substring(1));
    }

    /** The tick at which the election of a ticket ends; negative if it was released. */
    static int electionEnd(String ticket) {
        return Laboratory.tickOf(sixBytes(ticket, 8));
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
                        case 'v' -> "version " + version() + " until " + expires();
                        case 'f' -> value.substring(0, 4).trim() + " until " + electionEnd(value);
                        default -> "until " + tick(name);
                    };
            text.append(name).append(": ").append(spelled).append(", ");
        });
        return exists() ? text + "expires " + deadline + "}" : "nothing";
    }
}
