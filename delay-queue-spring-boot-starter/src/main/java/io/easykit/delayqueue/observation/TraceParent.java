package io.easykit.delayqueue.observation;

import io.easykit.delayqueue.DelayMessage;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The header {@value #HEADER} of W3C Trace Context.
 *
 * @param traceId 32 hexadecimal digits
 * @param spanId  16 hexadecimal digits
 * @param sampled whether the sender records its trace
 */
record TraceParent(String traceId, String spanId, boolean sampled) {

    public static final String HEADER = "traceparent";

    private static final Pattern FORMAT =
            Pattern.compile("(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?");
    private static final int SHORT_TRACE_ID = 16;

    /** The parent in a header; empty if it has another format, or ids of zeros. */
    static Optional<TraceParent> of(String header) {
        Matcher parts = FORMAT.matcher(header.strip());
        if (!parts.matches() || isZero(parts.group(1)) || isZero(parts.group(2))) {
            return Optional.empty();
        }
        boolean sampled = (Integer.parseInt(parts.group(3), 16) & 1) == 1;
        return Optional.of(new TraceParent(parts.group(1), parts.group(2), sampled));
    }

    /** The parent of a message; empty if it has none. */
    static Optional<TraceParent> of(DelayMessage<?> message) {
        String header = message.headers().get(HEADER);
        return header == null ? Optional.empty() : of(header);
    }

    private static boolean isZero(String digits) {
        return digits.chars().allMatch(digit -> digit == '0');
    }

    /** The parents of messages, each once. */
    static List<TraceParent> allOf(List<DelayMessage<Object>> messages) {
        return messages.stream()
                .flatMap(message -> of(message).stream())
                .distinct()
                .toList();
    }

    /** The header. A trace id of 64 bits gets leading zeros. */
    static String header(String traceId, String spanId, boolean sampled) {
        String whole = traceId.length() == SHORT_TRACE_ID ? "0".repeat(SHORT_TRACE_ID) + traceId : traceId;
        return "00-" + whole + "-" + spanId + (sampled ? "-01" : "-00");
    }
}
