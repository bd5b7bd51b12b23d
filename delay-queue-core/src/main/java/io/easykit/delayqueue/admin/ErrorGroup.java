package io.easykit.delayqueue.admin;

import io.easykit.delayqueue.MessageInfo.ErrorNote;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The kind of an error. Errors with the same cause at the same place are of one group, whatever ids, numbers and quoted values
 * their messages contain.
 *
 * @param type    class of the deepest cause, or the reason word of the queue ({@link ErrorNote#LEASE_LOST}), or
 *                {@link #UNKNOWN}
 * @param message of the deepest cause with {@code #} for numbers, hexadecimal values, UUIDs, generated ids and quoted values;
 *                empty if it has none
 * @param frame   first stack frame outside the JDK, Spring and this library, such as {@code OrderService.close:42}; empty if
 *                there is none
 */
public record ErrorGroup(String type, String message, String frame) {

    /** Type of dead letters without an error. */
    public static final String UNKNOWN = "UNKNOWN";

    /** Longer lines are cut. A store that returns beginnings of errors returns at least so much of the line. */
    public static final int LINE_BYTES = 280;

    /** Frames behind these bytes are ignored. A store that returns beginnings of errors returns at least so much. */
    public static final int FRAME_BYTES = 480;

    private static final String CAUSE = "\ncaused by ";
    private static final String FRAME = "\n  at ";

    private static final Pattern REASON = Pattern.compile("[A-Z][A-Z_]+");
    private static final Pattern TYPE = Pattern.compile("[\\w.$]+");
    private static final Pattern QUOTED = Pattern.compile(
            "\"[^\"]*(\"|$)|`[^`]*(`|$)|(?<![\\p{L}\\d])'[^']*('(?!\\p{L})|$)|[\u201c\u201e][^\u201d\u201c]*([\u201d\u201c]|$)");
    private static final Pattern UUID =
            Pattern.compile("\\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\\b");
    private static final Pattern GENERATED_ID = Pattern.compile("~[0-9a-z]{1,2}~[\\w-]{16}");
    private static final Pattern HEX = Pattern.compile("\\b0[xX][0-9a-fA-F]+\\b|\\b(?=[a-f]*\\d)[0-9a-f]{8,}\\b");
    private static final Pattern NUMBER = Pattern.compile("\\d+(?:[.,:]\\d+)*");
    private static final Pattern BLANKS = Pattern.compile("\\s+");

    private static final List<String> FOREIGN = List.of(
            "java.",
            "javax.",
            "jdk.",
            "sun.",
            "com.sun.",
            "org.springframework.",
            "io.easykit.delayqueue.",
            "io.easykit.cache.",
            "io.easykit.redis.",
            "io.easykit.boot.",
            "io.easykit.console.");

    /** Stands for dead letters without an error. */
    public static final ErrorGroup NONE = new ErrorGroup(UNKNOWN, "", "");

    /** The group of an error text, as a message keeps it. */
    public static ErrorGroup of(String text) {
        int frames = text.indexOf(FRAME);
        String head = frames < 0 ? text : text.substring(0, frames);
        int cause = head.lastIndexOf(CAUSE);
        String line = cut(firstLine(cause < 0 ? head : head.substring(cause + CAUSE.length())), LINE_BYTES);
        int colon = line.indexOf(": ");
        String type = (colon < 0 ? line : line.substring(0, colon)).strip();
        if (!TYPE.matcher(type).matches()) {
            return new ErrorGroup(UNKNOWN, normalized(line), firstOwnFrame(text, frames));
        }
        if (colon < 0 && REASON.matcher(type).matches()) {
            return new ErrorGroup(type, "", "");
        }
        return new ErrorGroup(
                type, colon < 0 ? "" : normalized(line.substring(colon + 2)), firstOwnFrame(text, frames));
    }

    /** Identifies the group: 16 hexadecimal digits, the same on each node. */
    public String key() {
        String all = type + "\n" + message + "\n" + frame;
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(all.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, 8);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Class without its package, and message: one line for a person. */
    public String title() {
        String name = type.substring(type.lastIndexOf('.') + 1);
        return message.isEmpty() ? name : name + ": " + message;
    }

    static String normalized(String message) {
        String text = QUOTED.matcher(message).replaceAll("'#'");
        text = UUID.matcher(text).replaceAll("#");
        text = GENERATED_ID.matcher(text).replaceAll("#");
        text = HEX.matcher(text).replaceAll("#");
        text = NUMBER.matcher(text).replaceAll("#");
        return BLANKS.matcher(text).replaceAll(" ").strip();
    }

    private static String firstOwnFrame(String text, int from) {
        if (from < 0) {
            return "";
        }
        String all = text.substring(from);
        String section = cut(all, FRAME_BYTES);
        // The last line of a section that was cut may be incomplete.
        int end = section.length() < all.length() || bytes(section) >= FRAME_BYTES
                ? section.lastIndexOf(FRAME)
                : section.length();
        for (String line : section.substring(0, Math.max(0, end)).split("\n", -1)) {
            String frame = line.strip();
            if (frame.startsWith("at ") && isOwn(frame.substring(3))) {
                return brief(frame.substring(3));
            }
        }
        return "";
    }

    private static boolean isOwn(String frame) {
        String name = withoutModule(frame);
        return !name.contains("$$")
                && !name.contains("$Proxy")
                && !name.contains("<generated>")
                && FOREIGN.stream().noneMatch(name::startsWith);
    }

    /** {@code java.base/java.util.Optional.get(Optional.java:143)} without the part before the slash. */
    private static String withoutModule(String frame) {
        int parenthesis = frame.indexOf('(');
        int slash = frame.lastIndexOf('/', parenthesis < 0 ? frame.length() : parenthesis);
        return frame.substring(slash + 1);
    }

    /** {@code com.shop.OrderService.close(OrderService.java:42)} as {@code OrderService.close:42}. */
    private static String brief(String frame) {
        String name = withoutModule(frame);
        int parenthesis = name.indexOf('(');
        String method = parenthesis < 0 ? name : name.substring(0, parenthesis);
        int type = method.lastIndexOf('.', Math.max(0, method.lastIndexOf('.') - 1));
        int colon = parenthesis < 0 ? -1 : name.indexOf(':', parenthesis);
        String line = colon < 0 ? "" : name.substring(colon, Math.max(colon, name.lastIndexOf(')')));
        return method.substring(type + 1) + line;
    }

    private static String firstLine(String text) {
        int end = text.indexOf('\n');
        return end < 0 ? text : text.substring(0, end);
    }

    /** The beginning of so many bytes in UTF-8, without a character that does not fit. */
    private static String cut(String text, int most) {
        if (text.length() * 3L <= most || bytes(text) <= most) {
            return text;
        }
        int length = 0;
        int end = 0;
        while (end < text.length()) {
            int codePoint = text.codePointAt(end);
            length += codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
            if (length > most) {
                break;
            }
            end += Character.charCount(codePoint);
        }
        return text.substring(0, end);
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
