package io.easykit.redis;

/** What to do about an error reply that is about the state of the server. */
public final class Remedy {

    private Remedy() {}

    /**
     * Returns what to do, in brackets, with a space in front.
     *
     * @return empty if the error is about something else
     */
    public static String of(ErrorReply error) {
        return switch (error.code()) {
            case "READONLY" -> " (the server is a replica: connect to its master, or promote it)";
            case "NOREPLICAS" ->
                " (it has fewer connected replicas than min-replicas-to-write: start them, or lower that number)";
            case "OOM" -> " (it is full: raise maxmemory, or remove data)";
            case "MISCONF" -> " (it cannot save to its disk: see its log, and fix the disk)";
            default -> "";
        };
    }
}
