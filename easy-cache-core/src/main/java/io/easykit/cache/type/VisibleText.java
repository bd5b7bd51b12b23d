package io.easykit.cache.type;

import java.util.Collection;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Text from outside (keys, errors, rows of the outbox) for log lines and messages of exceptions. Line breaks, terminal sequences and
 * other invisible characters are escaped, so that no text forges a log line.
 */
public final class VisibleText {

    private static final int MOST_CHARACTERS = 500;
    private static final int MOST_KEYS = 20;

    /** Controls, formats, surrogates without their other half, private and unassigned characters, separators of lines. */
    private static final Pattern INVISIBLE = Pattern.compile("[\\p{C}\\p{Zl}\\p{Zp}]");

    private VisibleText() {}

    /** The text in one visible line, cut after 500 characters. */
    public static String of(String text) {
        boolean isCut = text.length() > MOST_CHARACTERS;
        String begin = isCut ? text.substring(0, MOST_CHARACTERS) : text;
        String visible = INVISIBLE
                .matcher(begin)
                .replaceAll(found -> String.format("\\\\u%04X", found.group().codePointAt(0)));
        return isCut ? visible + "…" : visible;
    }

    /** The first 20 keys, whose own texts are visible, and how many more there are. */
    public static String list(Collection<?> keys) {
        String first = keys.stream().limit(MOST_KEYS).map(String::valueOf).collect(Collectors.joining(", "));
        return "[" + first + (keys.size() <= MOST_KEYS ? "]" : " and " + (keys.size() - MOST_KEYS) + " more]");
    }
}
