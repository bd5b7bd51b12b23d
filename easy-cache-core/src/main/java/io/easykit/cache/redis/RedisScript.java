package io.easykit.cache.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

/** The scripts, one for each operation: a file of the same name beside this class. */
enum RedisScript {
    FETCH,
    STORE,
    RELEASE_LOAD,
    PREPARE,
    INVALIDATE,
    REMOVE_UNREADABLE,
    REMOVE_WRONG_TYPE,
    PROBE,
    RAISE_EPOCH,
    LEASE;

    private final String text;
    private final String sha;

    RedisScript() {
        String file = name().toLowerCase(Locale.ROOT).replace('_', '-') + ".lua";
        try (InputStream in = RedisScript.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("The script " + file + " is missing from the jar");
            }
            byte[] bytes = in.readAllBytes();
            this.text = new String(bytes, StandardCharsets.UTF_8);
            this.sha =
                    HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(bytes));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Whether it returns a list; the others return a number. */
    boolean returnsList() {
        return this == FETCH || this == RAISE_EPOCH;
    }

    String text() {
        return text;
    }

    /** A line of the text, counted from 1; empty if there is none. */
    String line(int number) {
        return text.lines().skip(Math.max(0, number - 1)).findFirst().orElse("");
    }

    /** What {@code EVALSHA} calls it by. */
    String sha() {
        return sha;
    }
}
