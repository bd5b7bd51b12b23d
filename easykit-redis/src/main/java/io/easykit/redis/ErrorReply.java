package io.easykit.redis;

import io.lettuce.core.RedisCommandExecutionException;
import java.io.IOException;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;

/**
 * An error reply of Redis, classified by its code. Redis wraps the error of a command in a script: before 7.0 in a text of its
 * own, later in an {@code ERR} if the script passes it on. Both are removed.
 *
 * <p>What an error means is decided by the products: a cache goes on without Redis where a queue has to report a refusal.
 *
 * @param code first word of the error, for example {@code READONLY}; empty if there is none
 * @param text the whole error, without the wrapping
 * @param reply as Redis sent it, without the command arguments that it may quote
 */
public record ErrorReply(String code, String text, String reply) {

    /** Errors about the state of the server, which passes. Other ones are about one command, or its rights. */
    private static final Set<String> SERVER_STATES = Set.of(
            "LOADING",
            "READONLY",
            "MOVED",
            "ASK",
            "MASTERDOWN",
            "CLUSTERDOWN",
            "TRYAGAIN",
            "BUSY",
            "NOREPLICAS",
            "MISCONF");

    /** The servers that can resolve these have another address, or will be found by asking for it again. */
    private static final Set<String> MENDED_BY_ANOTHER_SERVER = Set.of("READONLY", "MASTERDOWN");

    /** Reply of Redis to a connection beyond its limit; it has no code of its own. */
    private static final String TOO_MANY_CLIENTS = "ERR max number of clients";

    private static final Pattern CODE_AND_TEXT = Pattern.compile("(?s)[A-Z]{2,} .*");
    private static final Pattern CODE = Pattern.compile("([A-Z]{2,}) ");

    /** Redis before 7.0 puts the error of a command in a script behind a text of its own. */
    private static final Pattern IN_SCRIPT =
            Pattern.compile("^ERR Error running script \\(call to \\w+\\): (@user_script: ?\\d+: )*-?");

    /** A script that passes an error on makes it one of its own from Redis 7.0 on. */
    private static final Pattern PASSED_ON = Pattern.compile("^ERR (?=[A-Z]{3,} )");

    /** The error of a command that a script raises again with {@code error}, behind places in the script. */
    private static final Pattern RAISED_AGAIN = Pattern.compile(
            "(?s)^ERR (?:Error running script \\(call to \\w+\\): )?(?:@?user_script: ?\\d+: |-)+(?=[A-Z]{3,} )");

    private static final Pattern DENIED_COMMAND = Pattern.compile("permissions to run the '([\\w|-]+)'");

    private static final Pattern DENIED_KEY = Pattern.compile("permissions to access|can't access at least one");

    /** In a script, Redis before 7.0 does not name the command. */
    private static final Pattern DENIED = Pattern.compile("can't run this command|permissions to run");

    /** Reads an error reply. */
    public static ErrorReply parse(String message) {
        String reply = RedisReply.withoutArguments(message);
        String raised = RAISED_AGAIN.matcher(reply).replaceFirst("");
        String text =
                PASSED_ON.matcher(IN_SCRIPT.matcher(raised).replaceFirst("")).replaceFirst("");
        Matcher code = CODE.matcher(text);
        return new ErrorReply(code.lookingAt() ? code.group(1) : "", text, reply);
    }

    /**
     * Returns the error reply in a failed call, or null if there was none. Drivers pass an error reply on as an exception of
     * their own; failures of the connection are Java's exceptions.
     */
    public static @Nullable ErrorReply of(Throwable failure) {
        for (Throwable e = failure; e != null && !(e instanceof IOException); e = e.getCause()) {
            String message = e.getMessage();
            if (message != null && isReply(e, message)) {
                return parse(message);
            }
        }
        return null;
    }

    private static boolean isReply(Throwable e, String message) {
        return e instanceof RedisCommandExecutionException
                || (!(e instanceof DataAccessException)
                        && CODE_AND_TEXT.matcher(message).matches());
    }

    /** Whether Redis does not have the script of a call: it was restarted, or its scripts were flushed. */
    public static boolean isUnknownScript(Throwable failure) {
        ErrorReply error = of(failure);
        return error != null && error.is("NOSCRIPT");
    }

    /** Whether the error has this code. */
    public boolean is(String wanted) {
        return code.equals(wanted);
    }

    /** Whether the key has another type. */
    public boolean isWrongType() {
        return is("WRONGTYPE");
    }

    /** Whether Redis has no memory left for a write. */
    public boolean isOutOfMemory() {
        return is("OOM");
    }

    /** Whether the error is about the state of the server, which passes. A repeated call gets another reply then. */
    public boolean isServerState() {
        return SERVER_STATES.contains(code) || text.startsWith(TOO_MANY_CLIENTS);
    }

    /** Whether the password of the connection is missing or wrong. */
    public boolean isLogin() {
        return is("NOAUTH") || is("WRONGPASS");
    }

    /** Whether only another server can carry out the call: this one is no master, or has lost it. */
    public boolean isMendedByAnotherServer() {
        return MENDED_BY_ANOTHER_SERVER.contains(code);
    }

    /** Whether the user of the connection may not run a command. */
    public boolean isDeniedCommand() {
        return DENIED.matcher(text).find();
    }

    /** Whether the user of the connection may not use a key. */
    public boolean isDeniedKey() {
        return DENIED_KEY.matcher(text).find();
    }

    /** The command that the user of the connection may not run, in lower case; null if the reply does not name it. */
    public @Nullable String deniedCommand() {
        Matcher named = DENIED_COMMAND.matcher(text);
        return named.find() ? named.group(1).toLowerCase(Locale.ROOT) : null;
    }
}
