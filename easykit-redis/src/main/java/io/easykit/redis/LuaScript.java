package io.easykit.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A Lua script as it is sent to Redis: the text and its SHA, by which {@code EVALSHA} calls it.
 *
 * <p>The functions that several scripts of a product share are in one file, {@value #PRELUDE}. The text that is sent contains
 * only those that the script uses: Redis creates every function that it meets at each call, so an unused one would cost time.
 */
public final class LuaScript {

    private static final String PRELUDE = "prelude.lua";

    /** The line between the two parts of a script. */
    private static final String SECOND_PART = "\n---- Second part\n";

    /** The beginning of a line of the prelude that declares a function or a value. */
    private static final Pattern DECLARATION = Pattern.compile("local (?:function )?(\\w+)(?:\\(| =)");

    /** The prelude beside each class. A product has some forty scripts with the same one. */
    private static final ClassValue<List<Block>> PRELUDES = new ClassValue<>() {
        @Override
        protected List<Block> computeValue(Class<?> beside) {
            return Stream.of(resource(beside, PRELUDE).split("\n\n", -1))
                    .map(Block::of)
                    .toList();
        }
    };

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
     *
     * <p>A script that nearly always ends early can have a second part, after the line {@code SECOND_PART}. Blocks that only
     * this part uses are put in front of it, so that they cost nothing before.
     */
    private static String withPrelude(Class<?> beside, String script) {
        List<Block> left = new ArrayList<>(PRELUDES.get(beside));
        StringBuilder text = new StringBuilder();
        for (String part : script.split(SECOND_PART, 2)) {
            takeUsedIn(part, left).forEach(block -> text.append(block.text).append("\n\n"));
            text.append(part);
        }
        return text.toString();
    }

    /** Removes the blocks that a script uses, and returns them in their order. */
    private static Deque<Block> takeUsedIn(String script, List<Block> blocks) {
        Deque<Block> used = new ArrayDeque<>();
        Set<String> names = namesIn(script);
        for (int i = blocks.size() - 1; i >= 0; i--) {
            if (blocks.get(i).isUsed(names)) {
                Block block = blocks.remove(i);
                used.addFirst(block);
                names.addAll(block.names);
            }
        }
        return used;
    }

    /**
     * Returns the names that are used: the words outside comments and texts in quotes that are no field, as in
     * {@code string.format}. Without patterns, which are slow in a JVM that has just started and reads some forty scripts.
     */
    private static Set<String> namesIn(String script) {
        Set<String> names = new HashSet<>();
        int at = 0;
        while (at < script.length()) {
            int end = endOfToken(script, at);
            if (isPartOfName(script.charAt(at)) && !isField(script, at)) {
                names.add(script.substring(at, end));
            }
            at = end;
        }
        return names;
    }

    /** Two dots join texts. */
    private static boolean isField(String script, int start) {
        return start > 0 && script.charAt(start - 1) == '.' && !script.startsWith("..", start - 2);
    }

    /** The end of the word, the comment, the text in quotes, or the other character that begins here. */
    private static int endOfToken(String script, int start) {
        char first = script.charAt(start);
        int end = start + 1;
        if (isPartOfName(first)) {
            while (end < script.length() && isPartOfName(script.charAt(end))) {
                end++;
            }
        } else if (script.startsWith("--", start)) {
            end = endOfLine(script, start);
        } else if (first == '\'' || first == '"') {
            int closing = script.indexOf(first, end);
            if (closing > 0 && closing < endOfLine(script, start)) {
                end = closing + 1;
            }
        }
        return end;
    }

    private static int endOfLine(String script, int start) {
        int end = script.indexOf('\n', start);
        return end < 0 ? script.length() : end;
    }

    private static boolean isPartOfName(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
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

    /**
     * A part of the prelude.
     *
     * @param declared names that it declares; none if every script needs it
     * @param names names that stand in it
     */
    private record Block(String text, List<String> declared, Set<String> names) {

        static Block of(String text) {
            List<String> declared = new ArrayList<>();
            for (String line : text.split("\n", -1)) {
                Matcher declaration = DECLARATION.matcher(line);
                if (declaration.lookingAt()) {
                    declared.add(declaration.group(1));
                }
            }
            return new Block(text.stripTrailing(), declared, namesIn(text));
        }

        boolean isUsed(Set<String> after) {
            return declared.isEmpty() || !Collections.disjoint(declared, after);
        }
    }
}
