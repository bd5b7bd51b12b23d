package io.easykit.cache.redis;

import io.easykit.redis.ErrorReply;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds the command that Redis refuses to a client, in the error reply. Redis before 7.2 does not name a command that a
 * script may not call; it names the script and the line.
 */
final class RefusedCommand {

    private static final Pattern UNKNOWN = Pattern.compile("unknown command [`']([^`']{1,40})[`']");
    private static final Pattern LINE = Pattern.compile("user_script: ?(\\d+)");

    /** How a script names the command whose error it raises again. */
    private static final Pattern RAISED = Pattern.compile("\\(in call (\\w+)\\)");

    private static final Pattern CALL = Pattern.compile("redis\\.p?call\\('(\\w+)'");

    /** Error reply inside a script to a command that does not exist under its name. */
    private static final String UNKNOWN_IN_SCRIPT = "Unknown Redis command called from";

    private RefusedCommand() {}

    /** The name in upper case, as far as the reply contains it; null if the reply is about something else. */
    static @Nullable String of(ErrorReply error) {
        String name = error.deniedCommand();
        if (name == null) {
            name = group(UNKNOWN, error.reply());
        }
        if (name == null && (error.isDeniedCommand() || error.reply().contains(UNKNOWN_IN_SCRIPT))) {
            name = calledBy(error.reply());
        }
        return name == null ? null : name.toUpperCase(Locale.ROOT);
    }

    private static String calledBy(String reply) {
        String raised = group(RAISED, reply);
        return raised != null ? raised : calledAt(reply);
    }

    private static String calledAt(String reply) {
        int line = 0;
        Matcher lines = LINE.matcher(reply);
        while (lines.find()) {
            line = Integer.parseInt(lines.group(1));
        }
        for (CacheScript script : CacheScript.values()) {
            if (reply.contains(script.lua().sha())) {
                String name = group(CALL, script.lua().line(line));
                return name != null ? name : "a command of the script " + script.name();
            }
        }
        return "a command of a script";
    }

    private static @Nullable String group(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        return matcher.find() ? matcher.group(1) : null;
    }
}
