package io.easykit.test;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Finds patterns of Lua scripts that may take Redis a long time. Lua tries a pattern without {@code ^} again at each byte of the text. If
 * a repetition in it can run to the end of the text before the rest fails, the time grows with the square of the length, and nothing
 * else is served meanwhile.
 */
public final class LuaPatterns {

    private static final Pattern CALL = Pattern.compile(
            "string\\.(?:find|match|gmatch|gsub)\\([^\\n]*?,\\s*'((?:[^'\\\\\\n]|\\\\.)*)'(, 1, true)?");

    /** A repetition with something behind it that can fail. */
    private static final Pattern REPEATED = Pattern.compile("(?<!^)(?<!%)[*+-](?!$)");

    private LuaPatterns() {}

    /** The patterns of a script that are not anchored, and have something behind a repetition. */
    public static List<String> slow(String script) {
        return CALL.matcher(script)
                .results()
                .filter(call -> call.group(2) == null)
                .map(call -> call.group(1))
                .filter(pattern -> !pattern.startsWith("^"))
                .filter(pattern ->
                        REPEATED.matcher(pattern.replaceAll("\\[[^]]*]", "c")).find())
                .toList();
    }
}
