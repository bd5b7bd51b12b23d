package io.easykit.benchmarks.cache;

import java.util.ArrayList;
import java.util.List;

/** The call of the script fetch by a reader of an AP cache with the default options. */
public final class FetchCall {

    private FetchCall() {}

    /**
     * Returns the arguments for this text of the script. The caller does not matter for a fresh entry.
     *
     * @param field the field of the values that the reader can read
     */
    public static List<String> arguments(String script, String field) {
        List<String> arguments = new ArrayList<>(List.of("call", "1000", "120000"));
        // Earlier versions have a flag in place of the stale window.
        arguments.addAll(List.of(script.contains("window = tonumber(ARGV[4])") ? "1500" : "1", "2000"));
        // Earlier versions have no refresh-ahead of null.
        if (script.contains("ARGV[8]")) {
            arguments.add("2000");
        }
        arguments.addAll(List.of("0", field));
        return arguments;
    }
}
