package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.Bytes;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.function.UnaryOperator;

/** The moves, one Lua file each beside this class, and the text of one as it is sent: the prelude and the file. */
record LuaScript(Bytes text, String sha) {

    /** Lower case with {@code .lua} is the file. */
    enum Name {
        SEND,
        CLAIM,
        ACKNOWLEDGE,
        FAIL,
        RELEASE,
        EXTEND,
        REAP,
        CANCEL,
        RESCHEDULE,
        REDRIVE,
        PURGE,
        FIND,
        LIST,
        STATS,
        PAUSE,
        ALERT,
        DECLARE;

        String file() {
            return name().toLowerCase(Locale.ROOT) + ".lua";
        }
    }

    /**
     * Reads a script.
     *
     * @param edit changes the text before it is used; what ships changes nothing
     */
    static LuaScript load(Name name, UnaryOperator<String> edit) {
        byte[] text =
                edit.apply(resource("prelude.lua") + resource(name.file())).getBytes(StandardCharsets.UTF_8);
        return new LuaScript(Bytes.of(text), sha1(text));
    }

    static String resource(String file) {
        try (InputStream in = LuaScript.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("The script " + file + " is missing beside " + LuaScript.class.getName()
                        + ": it has to be packaged with the class (in a native image, by a resource hint).");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String sha1(byte[] text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
