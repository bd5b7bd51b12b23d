package io.easykit.delayqueue.support;

import java.util.List;
import java.util.stream.Collectors;

/**
 * Text from outside (ids, headers, errors, key prefixes) in a form that is safe in log lines and exception messages: line
 * breaks, terminal sequences and other invisible characters are escaped, so that no text forges a log line.
 */
public final class LogText {

    private static final int MOST_CHARACTERS = 500;
    private static final int MOST_TEXTS = 20;

    private LogText() {}

    /** The text in one visible line, cut after 500 characters. */
    public static String of(String text) {
        StringBuilder visible = null;
        int end = Math.min(text.length(), MOST_CHARACTERS);
        for (int at = 0, next; at < end; at = next) {
            int codePoint = text.codePointAt(at);
            next = at + Character.charCount(codePoint);
            if (visible == null && !isVisible(codePoint)) {
                visible = new StringBuilder(text.length() + 16).append(text, 0, at);
            }
            if (visible != null) {
                append(visible, codePoint);
            }
        }
        String all = visible == null ? text.substring(0, end) : visible.toString();
        return end < text.length() ? all + "…" : all;
    }

    /** The first of the texts, and how many more there are. */
    public static String list(List<String> texts) {
        String first = texts.stream().limit(MOST_TEXTS).map(LogText::of).collect(Collectors.joining(", "));
        return "[" + first + (texts.size() <= MOST_TEXTS ? "]" : " and " + (texts.size() - MOST_TEXTS) + " more]");
    }

    private static void append(StringBuilder visible, int codePoint) {
        if (isVisible(codePoint)) {
            visible.appendCodePoint(codePoint);
        } else {
            visible.append(
                    switch (codePoint) {
                        case '\n' -> "\\n";
                        case '\r' -> "\\r";
                        case '\t' -> "\\t";
                        default -> String.format(codePoint > 0xFFFF ? "\\U%06X" : "\\u%04X", codePoint);
                    });
        }
    }

    private static boolean isVisible(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED -> false;
            default -> true;
        };
    }
}
