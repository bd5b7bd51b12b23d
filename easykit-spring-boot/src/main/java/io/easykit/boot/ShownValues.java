package io.easykit.boot;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.Sanitizer;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;

/** Shows bodies and headers as text, with the values masked that the application masks in its other endpoints. */
public final class ShownValues {

    /** Name of a body that has no fields, for the functions that mask. */
    static final String BODY = "body";

    private static final int PREVIEW = 120;
    private static final int HEX_BYTES = 4096;

    /** Shown in place of text whose fields cannot be masked one by one. */
    private static final String HIDDEN = "****** (hidden: it is not one JSON document, so its fields cannot be masked)";

    private static final char BYTE_ORDER_MARK = '\uFEFF';

    private static final Logger log = LoggerFactory.getLogger(ShownValues.class);

    private final @Nullable BinaryOperator<String> mask;

    /** @param mask gets a name and a value, and returns another value if it has to be masked; null masks nothing */
    public ShownValues(@Nullable BinaryOperator<String> mask) {
        this.mask = mask;
    }

    /**
     * Values masked by the functions that mask them in the actuator. Without functions nothing is masked. A value for which a
     * function throws is masked too.
     */
    public static ShownValues maskedBy(List<SanitizingFunction> functions) {
        if (functions.isEmpty()) {
            return new ShownValues(null);
        }
        Sanitizer sanitizer = new Sanitizer(functions);
        AtomicBoolean warned = new AtomicBoolean();
        return new ShownValues((name, value) -> {
            try {
                return String.valueOf(sanitizer.sanitize(new SanitizableData(null, name, value), true));
            } catch (RuntimeException failure) {
                if (warned.compareAndSet(false, true)) {
                    warn(failure);
                }
                return SanitizableData.SANITIZED_VALUE;
            }
        });
    }

    /** Leaves out the message of the failure, which may contain the value. */
    private static void warn(RuntimeException failure) {
        StackTraceElement[] stack = failure.getStackTrace();
        log.warn(
                "A SanitizingFunction fails for a value of a message with {} at {}. Each value for which it fails is masked:"
                        + " correct it. Headers and bodies have no property source. Logged once.",
                failure.getClass().getName(),
                stack.length == 0 ? "an unknown place" : stack[0]);
    }

    /** The value of a header. */
    public String header(String name, String value) {
        return mask == null ? value : mask.apply(name, value);
    }

    /**
     * A body: {@code text}, {@code kind}, {@code size}, {@code cut}, {@code masked}.
     *
     * @param size bytes of the whole body
     */
    public Map<String, Object> body(byte[] bytes, int size) {
        boolean cut = bytes.length < size;
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("size", size);
        body.put("cut", cut);
        body.put("shown", bytes.length);
        String text = text(bytes, cut);
        if (text == null) {
            body.put("kind", "binary");
            int shown = Math.min(bytes.length, HEX_BYTES);
            String hex = HexFormat.ofDelimiter(" ").formatHex(bytes, 0, shown);
            String masked = header(BODY, hex);
            body.put("text", masked);
            body.put("cut", shown < size);
            body.put("shown", shown);
            body.put("masked", !masked.equals(hex));
            return body;
        }
        LexicalJson.Result json = LexicalJson.format(text, cut, true, mask);
        if (json != null) {
            body.put("kind", "json");
            body.put("text", json.text());
            body.put("masked", json.masked());
        } else {
            String shown = plain(text);
            body.put("kind", "text");
            body.put("text", shown);
            body.put("masked", !shown.equals(text));
        }
        return body;
    }

    /** The beginning of a body, in one line. */
    public String preview(byte[] beginning) {
        String text = text(beginning, true);
        if (text == null) {
            String hex = HexFormat.ofDelimiter(" ").formatHex(beginning, 0, Math.min(beginning.length, PREVIEW / 3));
            return header(BODY, hex);
        }
        LexicalJson.Result json = LexicalJson.format(text, true, false, mask);
        String shown = json != null ? json.text() : plain(text);
        int end = shown.offsetByCodePoints(0, Math.min(PREVIEW, shown.codePointCount(0, shown.length())));
        return shown.substring(0, end).replaceAll("\\s+", " ");
    }

    /**
     * Text that is not one JSON document. If it looks like JSON, it may have fields that have to be masked, for example in lines
     * of JSON, so all of it is hidden.
     */
    private String plain(String text) {
        return mask != null && looksLikeJson(text) ? HIDDEN : header(BODY, text);
    }

    private static boolean looksLikeJson(String text) {
        int at = 0;
        while (at < text.length() && (Character.isWhitespace(text.charAt(at)) || text.charAt(at) == BYTE_ORDER_MARK)) {
            at++;
        }
        return at < text.length() && "{[".indexOf(text.charAt(at)) >= 0;
    }

    /** The text of a whole body, or null if it is binary. */
    public static @Nullable String text(byte[] body) {
        return text(body, false);
    }

    /** The text of UTF-8 bytes, or null if they are none. A character that is cut at the end is left out. */
    private static @Nullable String text(byte[] bytes, boolean cut) {
        CharBuffer chars = CharBuffer.allocate(bytes.length);
        CoderResult result = StandardCharsets.UTF_8
                .newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .decode(ByteBuffer.wrap(bytes), chars, !cut);
        try {
            if (result.isError()) {
                result.throwException();
            }
        } catch (CharacterCodingException binary) {
            return null;
        }
        String text = chars.flip().toString();
        return text.chars().anyMatch(c -> c < ' ' && "\t\n\r".indexOf(c) < 0) ? null : text;
    }
}
