package io.easykit.redis;

/** What to do about an error reply that is about the state of the server. */
public final class Remedy {

    private Remedy() {}

    /**
     * Returns what to do, in brackets, with a space in front.
     *
     * @param error an error reply; the error of a command may stand inside that of its script
     * @return empty if the error is about something else
     */
    public static String of(String error) {
        if (says(error, "READONLY")) {
            return " (the server is a replica: connect to its master, or promote it)";
        }
        if (says(error, "NOREPLICAS")) {
            return " (it has fewer connected replicas than min-replicas-to-write: start them, or lower that number)";
        }
        if (says(error, "OOM")) {
            return " (it is full: raise maxmemory, or remove data)";
        }
        if (says(error, "MISCONF")) {
            return " (it cannot save to its disk: see its log, and mend the disk)";
        }
        return "";
    }

    private static boolean says(String error, String code) {
        return error.startsWith(code + " ")
                || error.startsWith("ERR " + code + " ")
                || error.contains("-" + code + " ");
    }
}
