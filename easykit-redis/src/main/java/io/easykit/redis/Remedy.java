package io.easykit.redis;

import java.util.regex.Pattern;

/** What to do about an error reply that is about the state of the server, or about the login. */
public final class Remedy {

    private static final Pattern NO_SUCH_DATABASE = Pattern.compile("DB index is out of range|SELECT is not allowed");

    private Remedy() {}

    /**
     * Returns what to do, in brackets, with a space in front.
     *
     * @return empty if the error is about something else
     */
    public static String of(ErrorReply error) {
        if (NO_SUCH_DATABASE.matcher(error.text()).find()) {
            return " (choose a database that the server has: spring.data.redis.database)";
        }
        return switch (error.code()) {
            case "READONLY" -> " (the server is a replica: connect to its master, or promote it)";
            case "NOREPLICAS" ->
                " (it has fewer connected replicas than min-replicas-to-write: start them, or lower that number)";
            case "OOM" -> " (it is full: raise maxmemory, or remove data)";
            case "MISCONF" -> " (it cannot save to its disk: see its log, and fix the disk)";
            case "NOAUTH" -> " (the server asks for a password: set spring.data.redis.password)";
            case "WRONGPASS" -> " (correct spring.data.redis.username and spring.data.redis.password)";
            default -> "";
        };
    }
}
