package io.easykit.cache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * One key of an otherwise empty Redis, for tests of a single script: seed a state, call, compare the whole state.
 *
 * <p>Times are in seconds from Redis's now. They are read back rounded to tens, so that it does not matter how long a
 * test took. Field values are in Latin-1, so that a {@code char} is a byte.
 */
final class SeededEntry implements AutoCloseable {

    static final String NOTHING = "nothing";

    private static final String KEY = "entry";
    private static final long GRAIN = 10_000;

    /** What PTTL replies for a key that does not exist. */
    private static final long GONE = -2;

    private final RawRedis redis = RedisServer.shared().connect();
    private final TreeMap<String, String> seed = new TreeMap<>();

    SeededEntry() {
        RedisServer.shared().flush();
    }

    SeededEntry value(int life, int epoch, String envelope) {
        return value("v", life, epoch, envelope);
    }

    /** A value of another version of the type. */
    SeededEntry value(String field, int life, int epoch, String envelope) {
        byte[] header = ByteBuffer.allocate(12).putLong(at(life)).putInt(epoch).array();
        return field(field, text(header).substring(2) + envelope);
    }

    /** @param token 8 characters */
    SeededEntry lease(String token, int leaseEnds) {
        return field("f", loadLease(token, leaseEnds));
    }

    SeededEntry stale(int until) {
        return field("s", Long.toString(at(until)));
    }

    SeededEntry keptUntil(int until) {
        return field("x", Long.toString(at(until)));
    }

    /** One update's intent; field {@code i} follows the latest. */
    SeededEntry intent(String token, int lease) {
        String end = Long.toString(at(lease));
        seed.merge("i", end, (a, b) -> a.compareTo(b) > 0 ? a : b);
        return field("i:" + token, end);
    }

    SeededEntry field(String name, String bytes) {
        seed.put(name, bytes);
        return this;
    }

    /** Writes the seed to Redis, without a TTL. */
    SeededEntry livesForEver() {
        List<String> command = new ArrayList<>(List.of("HSET", KEY));
        seed.forEach((name, bytes) -> command.addAll(List.of(name, bytes)));
        send(command.toArray(String[]::new));
        return this;
    }

    /** Writes the seed to Redis, with this TTL. */
    SeededEntry lives(int seconds) {
        livesForEver();
        send("PEXPIRE", KEY, Integer.toString(seconds * 1000));
        return this;
    }

    /** Puts a text where a hash should be. */
    SeededEntry isText() {
        send("SET", KEY, "text", "EX", "300");
        return this;
    }

    /** Calls a script as shipped. Bulk strings of the reply come in Latin-1, nil as an empty text. */
    Object call(CacheScript script, String... arguments) {
        List<String> command = new ArrayList<>(List.of("EVAL", script.lua().text(), "1", KEY));
        command.addAll(Arrays.asList(arguments));
        return texts(send(command.toArray(String[]::new)));
    }

    /** The load lease of a seeded fencing token. */
    String loadLease(String token, int leaseEnds) {
        long end = leaseEnds == 0 ? 0 : at(leaseEnds);
        return token + text(ByteBuffer.allocate(8).putLong(end).array()).substring(2);
    }

    /** All keys with all fields and their remaining lives. */
    String state() {
        List<?> keys = (List<?>) texts(send("KEYS", "*"));
        return keys.isEmpty()
                ? NOTHING
                : keys.stream().map(key -> stateOf((String) key)).collect(Collectors.joining());
    }

    /** A value as {@link #state()} spells it. */
    String spell(String field, String bytes) {
        return switch (field.charAt(0)) {
            case 'v' -> bytes.length() < 12 ? "'" + bytes + "'" : spellValue(bytes);
            case 'f' -> bytes.length() != 14 ? "'" + bytes + "'" : spellLease(bytes);
            default -> bytes.matches("\\d+") ? seconds(Long.parseLong(bytes)) : "'" + bytes + "'";
        };
    }

    private String stateOf(String key) {
        if (!send("TYPE", key).equals("hash")) {
            return "no hash";
        }
        List<?> flat = (List<?>) texts(send("HGETALL", key));
        Map<String, String> fields = new TreeMap<>();
        for (int i = 0; i < flat.size(); i += 2) {
            fields.put((String) flat.get(i), spell((String) flat.get(i), (String) flat.get(i + 1)));
        }
        long life = (Long) send("PTTL", key);
        if (life == GONE) {
            // It ended while it was read.
            return NOTHING;
        }
        return fields + " lives " + (life < 0 ? "for ever" : Math.round((double) life / GRAIN) * 10 + "s");
    }

    private String spellValue(String bytes) {
        String epoch = Integer.toString(ByteBuffer.wrap(bytes(bytes)).getInt(6));
        return bytes.substring(10) + " " + seconds(sixBytes(bytes, 0)) + " epoch " + epoch;
    }

    /** The second half of a token that was made just now is spelled so, for it is never the same. */
    private String spellLease(String bytes) {
        int made = ByteBuffer.wrap(bytes(bytes)).getInt(4);
        boolean madeNow = Math.abs((int) now() - made) < GRAIN;
        long end = sixBytes(bytes, 8);
        return bytes.substring(0, 4) + (madeNow ? "+now" : bytes.substring(4, 8)) + " "
                + (end == 0 ? "released" : seconds(end));
    }

    private String seconds(long serverMillis) {
        long seconds = Math.round((double) (serverMillis - now()) / GRAIN) * 10;
        return (seconds < 0 ? "" : "+") + seconds + "s";
    }

    private long at(int seconds) {
        return now() + seconds * 1000L;
    }

    private long now() {
        List<?> time = (List<?>) texts(send("TIME"));
        return Long.parseLong((String) time.get(0)) * 1000 + Long.parseLong((String) time.get(1)) / 1000;
    }

    private Object send(String... command) {
        Object reply =
                redis.command(Arrays.stream(command).map(SeededEntry::bytes).toArray(byte[][]::new));
        return reply == null ? "" : reply;
    }

    private static long sixBytes(String bytes, int offset) {
        return ByteBuffer.wrap(bytes("\0\0" + bytes.substring(offset, offset + 6)))
                .getLong();
    }

    private static Object texts(Object reply) {
        if (reply instanceof List<?> list) {
            return list.stream().map(SeededEntry::texts).toList();
        }
        return reply instanceof byte[] bytes ? text(bytes) : reply == null ? "" : reply;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, ISO_8859_1);
    }

    @Override
    public void close() {
        redis.close();
    }
}
