package io.easykit.console;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A reply of the console. */
public final class ConsoleReply {

    private static final byte[] NOTHING = new byte[0];

    private final int status;
    private final Map<String, String> headers;
    private final byte[] body;
    private final @Nullable Content content;

    private ConsoleReply(int status, Map<String, String> headers, byte[] body, @Nullable Content content) {
        this.status = status;
        this.headers = headers;
        this.body = body;
        this.content = content;
    }

    /** Writes a body piece by piece. */
    public interface Content {

        /**
         * Writes all of it.
         *
         * @throws IOException if the peer has gone
         */
        void write(OutputStream out) throws IOException;
    }

    static ConsoleReply of(int status, String type, byte[] body) {
        return new ConsoleReply(status, Map.of("Content-Type", type), body, null);
    }

    /** Without a body. */
    static ConsoleReply empty(int status) {
        return new ConsoleReply(status, Map.of(), NOTHING, null);
    }

    static ConsoleReply text(int status, String text) {
        return of(status, "text/plain;charset=UTF-8", text.getBytes(StandardCharsets.UTF_8));
    }

    /** A file to save. */
    public static ConsoleReply attachment(String name, byte[] body) {
        return of(200, "application/octet-stream", body).with("Content-Disposition", disposition(name));
    }

    /** A file to save, which is written piece by piece. */
    public static ConsoleReply attachment(String name, String type, Content content) {
        return new ConsoleReply(200, Map.of("Content-Type", type), NOTHING, content)
                .with("Content-Disposition", disposition(name));
    }

    private static String disposition(String name) {
        return "attachment; filename=\"" + name + "\"";
    }

    /** The same with a header, unless it has it already. */
    ConsoleReply with(String header, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.putIfAbsent(header, value);
        return new ConsoleReply(status, more, body, content);
    }

    /** HTTP status. */
    public int status() {
        return status;
    }

    /** All headers. */
    public Map<String, String> headers() {
        return headers;
    }

    /** The body itself, not a copy; empty if there is none, or if {@link #content} writes it. */
    public byte[] body() {
        return body;
    }

    /** Writes the body, or null if {@link #body} is all of it. */
    public @Nullable Content content() {
        return content;
    }
}
