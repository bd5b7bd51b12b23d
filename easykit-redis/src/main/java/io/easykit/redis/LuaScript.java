package io.easykit.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * A Lua script as it is sent to Redis: the text and its SHA, by which {@code EVALSHA} calls it.
 *
 * <p>The functions that several scripts of a product share are in one file, {@value #PRELUDE}. The text that is sent contains
 * only those that the script uses: Redis creates every function of the text at each call, so an unused one would cost time.
 */
public final class LuaScript {

    private static final String PRELUDE = "prelude.lua";

    /** A declaration of the prelude: a function, or a value. */
    private static final Pattern DECLARATION = Pattern.compile("(?m)^local (?:function )?(\\w+)(?:\\(| =)");

    /** Comments, and texts in quotes: no names are used in them. */
    private static final Pattern PROSE = Pattern.compile("--.*|'[^'\n]*'|\"[^\"\n]*\"");

    private final String text;
    private final byte[] bytes;
    private final String sha;

    /** @param text as it is sent */
    public LuaScript(String text) {
        this.text = text;
        this.bytes = text.getBytes(StandardCharsets.UTF_8);
        this.sha = sha1(bytes);
    }

    /**
     * Reads a script, and puts the parts of the prelude that it uses in front of it.
     *
     * @param beside class whose package has the file, and {@value #PRELUDE}
     * @param edit changes the text before it is used, for tests
     * @throws IllegalStateException if one of them is missing
     */
    public static LuaScript read(Class<?> beside, String file, UnaryOperator<String> edit) {
        return new LuaScript(edit.apply(withPrelude(beside, resource(beside, file))));
    }

    /**
     * Puts the blocks of the prelude that are used in front of a script. Blocks are separated by blank lines and use what
     * stands before them. One that declares something is left out if nothing after it uses one of the names; a field of the
     * same name, as in {@code string.format}, is no use.
     */
    private static String withPrelude(Class<?> beside, String script) {
        String[] blocks = resource(beside, PRELUDE).split("\n\n", -1);
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

    /**
     * Reads a file that is packaged with a class.
     *
     * @throws IllegalStateException if there is no such file
     */
    public static String resource(Class<?> beside, String file) {
        try (InputStream in = beside.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("The script " + file + " is missing beside " + beside.getName()
                        + ". Package it with the class; a native image needs a resource hint for it.");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The text as it is sent. */
    public String text() {
        return text;
    }

    /** The name of the script for {@code EVALSHA}. */
    public String sha() {
        return sha;
    }

    /** A line of the text, counted from 1; empty if there is none. Error replies of Redis name lines. */
    public String line(int number) {
        return text.lines().skip(Math.max(0, number - 1)).findFirst().orElse("");
    }

    byte[] bytes() {
        return bytes;
    }

    private static String sha1(byte[] text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
