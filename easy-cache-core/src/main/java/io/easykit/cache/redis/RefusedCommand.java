package io.easykit.cache.redis;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds the command that Redis refuses to a client, in the error reply. Redis before 7.0 does not name a command that a
 * script may not call; it names the script and the line.
 */
final class RefusedCommand {

    private static final Pattern NAMED = Pattern.compile("run the '([\\w|]+)'");
    private static final Pattern UNKNOWN = Pattern.compile("unknown command [`']([^`']{1,40})[`']");
    private static final Pattern LINE = Pattern.compile("user_script: ?(\\d+)");
    private static final Pattern CALL = Pattern.compile("redis\\.p?call\\('(\\w+)'");

    /** Error reply inside a script to a command that it may not call, or that does not exist under its name. */
    private static final List<String> REFUSED_IN_SCRIPT =
            List.of("can't run this command", "Unknown Redis command called from");

    private RefusedCommand() {}

    /** The name in upper case, as far as the reply contains it; null if the reply is about something else. */
    static @Nullable String of(String reply) {
        if (reply.startsWith("NOAUTH")) {
            return "every command without a password";
        }
        String name = group(NAMED, reply);
        if (name == null) {
            name = group(UNKNOWN, reply);
        }
        if (name == null && REFUSED_IN_SCRIPT.stream().anyMatch(reply::contains)) {
            name = calledBy(reply);
        }
        return name == null ? null : name.toUpperCase(Locale.ROOT);
    }

    private static String calledBy(String reply) {
        int line = 0;
        Matcher lines = LINE.matcher(reply);
        while (lines.find()) {
            line = Integer.parseInt(lines.group(1));
        }
        for (RedisScript script : RedisScript.values()) {
            if (reply.contains(script.sha())) {
                String name = group(CALL, script.line(line));
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
