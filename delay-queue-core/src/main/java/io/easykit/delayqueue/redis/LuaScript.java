package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.Bytes;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * The scripts, one Lua file each beside this class. The text that is sent contains the functions of the prelude that the
 * script uses, and the file. Redis creates every function of the text at each call, so an unused function would cost time.
 */
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
        READ,
        STATS,
        HEALTH,
        PAUSE,
        ALERT,
        DECLARE,
        REPAIR,
        TOPICS,
        BEAT,
        NODES,
        WISH,
        SAMPLE,
        SAMPLES,
        SHARE,
        DIAGNOSE;

        String file() {
            return name().toLowerCase(Locale.ROOT) + ".lua";
        }
    }

    /** A declaration of the prelude: a function, or a value. */
    private static final Pattern DECLARATION = Pattern.compile("(?m)^local (?:function )?(\\w+)(?:\\(| =)");

    /** Comments, and texts in quotes: no names are used in them. */
    private static final Pattern PROSE = Pattern.compile("--.*|'[^'\n]*'|\"[^\"\n]*\"");

    /**
     * Reads a script.
     *
     * @param edit changes the text before it is used; what ships changes nothing
     */
    static LuaScript load(Name name, UnaryOperator<String> edit) {
        byte[] text = edit.apply(withPrelude(resource(name.file()))).getBytes(StandardCharsets.UTF_8);
        return new LuaScript(Bytes.of(text), sha1(text));
    }

    /**
     * Puts the blocks of the prelude that are used in front of a script. Blocks are separated by blank lines and use what
     * stands before them. One that declares something is left out if nothing after it uses one of the names; a field of the
     * same name, as in {@code string.format}, is no use.
     */
    static String withPrelude(String script) {
        String[] blocks = resource("prelude.lua").split("\n\n", -1);
        String text = script;
        String used = PROSE.matcher(script).replaceAll("");
        for (int i = blocks.length - 1; i >= 0; i--) {
            if (isUsed(blocks[i], used)) {
                text = blocks[i].stripTrailing() + "\n\n" + text;
                used = PROSE.matcher(blocks[i]).replaceAll("") + used;
            }
        }
        return text;
    }

    private static boolean isUsed(String block, String after) {
        List<String> names = DECLARATION
                .matcher(block)
                .results()
                .map(match -> match.group(1))
                .toList();
        return names.isEmpty()
                || names.stream().anyMatch(name -> Pattern.compile("(?<![.\\w])" + name + "\\b")
                        .matcher(after)
                        .find());
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
