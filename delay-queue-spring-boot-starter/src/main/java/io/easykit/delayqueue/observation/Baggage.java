package io.easykit.delayqueue.observation;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.propagation.CommonHeaders;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The baggage of messages: the header {@value #HEADER} of W3C Baggage, and a header for each remote field, which other kinds of
 * propagation write.
 */
final class Baggage {

    static final String HEADER = "baggage";

    /** Limits of W3C Baggage. A longer header, and further entries, are left out. */
    private static final int MAX_LENGTH = 8_192;

    private static final int MAX_ENTRIES = 64;

    private Baggage() {}

    /** Names and values; of a batch those that all its messages have. */
    static Map<String, String> of(List<DelayMessage<Object>> messages, List<String> remoteFields) {
        Map<String, String> found = new LinkedHashMap<>();
        for (String field : remoteFields) {
            String value = CommonHeaders.value(messages, field);
            if (value != null && value.length() <= MAX_LENGTH) {
                found.put(field, value);
            }
        }
        String header = CommonHeaders.value(messages, HEADER);
        if (header != null && header.length() <= MAX_LENGTH) {
            header.lines()
                    .flatMap(line -> List.of(line.split(",", -1)).stream())
                    .limit(MAX_ENTRIES)
                    .forEach(entry -> add(entry, found));
        }
        return found;
    }

    /** A name, a value, and properties, which no tracer passes on: {@code tenant=acme;secret}. */
    private static void add(String entry, Map<String, String> found) {
        String pair = entry.split(";", 2)[0];
        int equal = pair.indexOf('=');
        String name = equal < 0 ? "" : pair.substring(0, equal).strip();
        if (name.isEmpty()) {
            return;
        }
        try {
            // A plus is no space there.
            String value = pair.substring(equal + 1).strip().replace("+", "%2B");
            found.putIfAbsent(name, URLDecoder.decode(value, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException unreadable) {
            // For example, a percent sign without digits. The context of a message must not fail its run.
        }
    }
}
