package io.easykit.console.autoconfigure;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** A request written by hand: other clients do not send any Host and Origin that a test wants. */
final class Http {

    private final int port;
    private final Map<String, String> headers = new LinkedHashMap<>();
    private String body = "";
    private int lacking;

    private Http(int port) {
        this.port = port;
        headers.put("Host", "localhost:" + port);
    }

    static Http to(int port) {
        return new Http(port);
    }

    record Reply(int status, Map<String, String> headers, String body) {

        String header(String name) {
            return headers.get(name.toLowerCase(Locale.ROOT));
        }
    }

    Http with(String name, String value) {
        headers.put(name, value);
        return this;
    }

    Http without(String name) {
        headers.remove(name);
        return this;
    }

    Http as(String user) {
        return with("Authorization", "Basic " + Base64.getEncoder().encodeToString((user + ":secret").getBytes(UTF_8)));
    }

    Http json(String text) {
        body = text;
        return with("Content-Type", "application/json").with("X-Easykit-Console", "1");
    }

    /** Announces bytes of a body that never come. */
    Http lacking(int bytes) {
        lacking = bytes;
        return this;
    }

    Reply get(String path) {
        return send("GET", path);
    }

    Reply post(String path) {
        return send("POST", path);
    }

    private Reply send(String method, String path) {
        byte[] content = body.getBytes(UTF_8);
        StringBuilder head = new StringBuilder(method + " " + path + " HTTP/1.0\r\n");
        headers.forEach(
                (name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        head.append("Content-Length: ").append(content.length + lacking).append("\r\n\r\n");
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(20_000);
            // In one piece: a server that replies without reading the body would reset the connection.
            socket.getOutputStream().write((head + body).getBytes(UTF_8));
            socket.getOutputStream().flush();
            return parse(new String(socket.getInputStream().readAllBytes(), UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Reply parse(String text) {
        int end = text.indexOf("\r\n\r\n");
        String[] lines = text.substring(0, end).split("\r\n", -1);
        Map<String, String> headers = Arrays.stream(lines)
                .skip(1)
                .collect(Collectors.toMap(
                        line -> line.substring(0, line.indexOf(':')).toLowerCase(Locale.ROOT),
                        line -> line.substring(line.indexOf(':') + 1).strip(),
                        (first, second) -> first));
        String content = text.substring(end + 4);
        boolean chunked = "chunked".equals(headers.get("transfer-encoding"));
        return new Reply(Integer.parseInt(lines[0].split(" ", -1)[1]), headers, chunked ? unchunked(content) : content);
    }

    /** Reactor Netty sends chunks to an HTTP/1.0 client, too. */
    private static String unchunked(String chunks) {
        StringBuilder content = new StringBuilder();
        int at = 0;
        while (true) {
            int line = chunks.indexOf("\r\n", at);
            int length = Integer.parseInt(chunks.substring(at, line), 16);
            if (length == 0) {
                return content.toString();
            }
            content.append(chunks, line + 2, line + 2 + length);
            at = line + 2 + length + 2;
        }
    }
}
