package io.easykit.boot;

import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Indents JSON by its tokens. Values are copied as they are: a parser would round large numbers, drop the zero of 1.10, and
 * keep only one of two equal fields.
 */
final class LexicalJson {

    /** Written in place of a value that is masked. */
    public static final String MASKED = "\"******\"";

    private static final int MAX_DEPTH = 200;

    /** Deeper lines begin there, or small nested elements would become a large text. */
    private static final int MOST_INDENTED = 20;

    private static final String SCALAR = "+-.0123456789abcdefghijklmnopqrstuvwxyzE";
    private static final String LITERAL = "-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?|true|false|null";

    private final String text;
    private final boolean cut;
    private final boolean indent;
    private final @Nullable BinaryOperator<String> mask;
    private final StringBuilder out = new StringBuilder();
    private int at;
    private boolean masked;

    private LexicalJson(String text, boolean cut, boolean indent, @Nullable BinaryOperator<String> mask) {
        this.text = text;
        this.cut = cut;
        this.indent = indent;
        this.mask = mask;
    }

    /**
     * The result.
     *
     * @param text   JSON
     * @param masked whether a value was masked
     */
    public record Result(String text, boolean masked) {}

    /**
     * Formats a JSON text.
     *
     * @param cut    whether the end of the text may be missing
     * @param indent whether lines are broken and indented
     * @param mask   gets the name of a field and its value, and returns another value if it has to be masked; {@code {}} and
     *               {@code []} stand for objects and arrays. The name of a text that is no object is {@value ShownValues#BODY}.
     *               Null masks nothing
     * @return null if it is not JSON
     */
    public static @Nullable Result format(
            String text, boolean cut, boolean indent, @Nullable BinaryOperator<String> mask) {
        LexicalJson json = new LexicalJson(text, cut, indent, mask);
        try {
            json.skipBlanks();
            if (json.at == text.length()) {
                return null;
            }
            json.value(json.peek() == '{' ? "" : ShownValues.BODY, 0);
            json.skipBlanks();
            if (json.at < text.length()) {
                return null;
            }
        } catch (End end) {
            if (!end.early || !cut) {
                return null;
            }
        }
        return new Result(json.out.toString(), json.masked);
    }

    /** The text ends early, or is not JSON. */
    private static final class End extends RuntimeException {

        private static final long serialVersionUID = 1L;

        /** Whether the text ends early. */
        private final boolean early;

        private End(boolean early) {
            super(null, null, false, false);
            this.early = early;
        }
    }

    private char peek() {
        if (at >= text.length()) {
            throw new End(true);
        }
        return text.charAt(at);
    }

    private void skipBlanks() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private void value(String field, int depth) {
        if (depth > MAX_DEPTH) {
            throw new End(false);
        }
        char first = peek();
        boolean container = first == '{' || first == '[';
        int start = at;
        int written = out.length();
        if (mask != null && container && isMasked(field, first == '{' ? "{}" : "[]")) {
            try {
                members(first, field, depth);
            } finally {
                replace(written);
            }
            return;
        }
        if (container) {
            members(first, field, depth);
            return;
        }
        try {
            scalar(first);
        } finally {
            String token = text.substring(start, at);
            out.append(token);
            if (mask != null && isMasked(field, plain(token))) {
                replace(written);
            }
        }
    }

    private void replace(int from) {
        out.setLength(from);
        out.append(MASKED);
        masked = true;
    }

    private boolean isMasked(String field, String value) {
        return mask != null && !value.equals(mask.apply(field, value));
    }

    private void members(char open, String field, int depth) {
        char close = open == '{' ? '}' : ']';
        out.append(open);
        at++;
        skipBlanks();
        if (peek() == close) {
            at++;
            out.append(close);
            return;
        }
        while (true) {
            line(depth + 1);
            String name = field;
            if (open == '{') {
                name = name();
            }
            value(name, depth + 1);
            skipBlanks();
            char next = peek();
            at++;
            if (next == close) {
                line(depth);
                out.append(close);
                return;
            }
            if (next != ',') {
                throw new End(false);
            }
            out.append(indent ? "," : ", ");
            skipBlanks();
        }
    }

    private String name() {
        int start = at;
        if (peek() != '"') {
            throw new End(false);
        }
        string();
        String token = text.substring(start, at);
        skipBlanks();
        if (peek() != ':') {
            throw new End(false);
        }
        at++;
        out.append(token).append(": ");
        skipBlanks();
        return plain(token);
    }

    private void scalar(char first) {
        if (first == '"') {
            string();
            return;
        }
        int start = at;
        while (at < text.length() && SCALAR.indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        if (at == text.length() && at > start && cut) {
            return;
        }
        if (!text.substring(start, at).matches(LITERAL)) {
            throw new End(false);
        }
    }

    private void string() {
        at++;
        while (true) {
            char c = peek();
            at++;
            if (c == '"') {
                return;
            }
            if (c == '\\') {
                peek();
                at++;
            } else if (c < ' ') {
                throw new End(false);
            }
        }
    }

    private void line(int depth) {
        if (indent) {
            out.append('\n').append("  ".repeat(Math.min(depth, MOST_INDENTED)));
        }
    }

    /** The text of a token: of a string without quotes and escapes. */
    private static String plain(String token) {
        if (!token.startsWith("\"")) {
            return token;
        }
        StringBuilder plain = new StringBuilder();
        int end = token.length() > 1 && token.endsWith("\"") ? token.length() - 1 : token.length();
        for (int i = 1; i < end; i++) {
            char c = token.charAt(i);
            if (c != '\\' || i + 1 >= end) {
                plain.append(c);
                continue;
            }
            char escape = token.charAt(++i);
            if (escape == 'u' && i + 4 < end && token.substring(i + 1, i + 5).matches("[0-9a-fA-F]{4}")) {
                plain.append((char) Integer.parseInt(token.substring(i + 1, i + 5), 16));
                i += 4;
            } else {
                int known = "nrtbf".indexOf(escape);
                plain.append(known < 0 ? escape : "\n\r\t\b\f".charAt(known));
            }
        }
        return plain.toString();
    }
}
