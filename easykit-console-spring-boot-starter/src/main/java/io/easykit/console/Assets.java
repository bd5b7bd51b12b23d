package io.easykit.console;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/** The files of the page, read once. They are sent without comments, indentation and most line ends. */
final class Assets {

    static final List<String> NAMES = List.of("index.html", "icon.svg", "console.css", "console.js");

    /** The parts of console.js, each after those that it imports. */
    static final List<String> MODULES = List.of("lib.js", "messages.js", "queues.js", "caches.js", "console.js");

    private static final Pattern IMPORT = Pattern.compile("(?ms)^import \\{.*?\\} from '\\./\\w+\\.js';\n");
    private static final Pattern EXPORT = Pattern.compile("(?m)^export ");

    /**
     * Lines that only comment, the space before the others, and line ends after a comma, a semicolon or an opening bracket. The files
     * have no texts of several lines, and no comments behind code.
     */
    private static final Pattern FOR_READERS = Pattern.compile("(?m)^(?: *(?://|/\\*\\*).*)?\n|^ +|(?<=[,;(\\[{])\n");

    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html;charset=UTF-8",
            "css", "text/css;charset=UTF-8",
            "js", "text/javascript;charset=UTF-8",
            "svg", "image/svg+xml");

    /** A file as a whole reply. */
    private record Asset(ConsoleReply reply, String tag) {}

    private final Map<String, Asset> plain = new LinkedHashMap<>();
    private final Map<String, Asset> compressed = new LinkedHashMap<>();

    Assets() {
        for (String name : NAMES) {
            byte[] content = content(name);
            String type = String.valueOf(TYPES.get(name.substring(name.lastIndexOf('.') + 1)));
            byte[] small = compressed(content);
            plain.put(name, new Asset(ConsoleReply.of(200, type, content), tag(content)));
            compressed.put(
                    name, new Asset(ConsoleReply.of(200, type, small).with("Content-Encoding", "gzip"), tag(small)));
        }
    }

    /** @param path behind the console's path, with a slash */
    @Nullable ConsoleReply find(String path, ConsoleRequest request) {
        Map<String, Asset> assets = takesGzip(request.header("Accept-Encoding")) ? compressed : plain;
        Asset asset = assets.get(path.equals("/") ? "index.html" : path.substring(1));
        if (asset == null) {
            return null;
        }
        String known = request.header("If-None-Match");
        ConsoleReply reply = known != null && known.contains(asset.tag()) ? ConsoleReply.empty(304) : asset.reply();
        return reply.with("ETag", asset.tag()).with("Cache-Control", "no-cache").with("Vary", "Accept-Encoding");
    }

    static boolean takesGzip(@Nullable String acceptedEncodings) {
        if (acceptedEncodings == null) {
            return false;
        }
        return Arrays.stream(acceptedEncodings.toLowerCase(Locale.ROOT).split(",", -1))
                .map(one -> one.replace(" ", ""))
                .anyMatch(one -> one.equals("gzip") || (one.startsWith("gzip;q=") && !one.matches("gzip;q=0(\\.0*)?")));
    }

    static byte[] compressed(byte[] content) {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (DeflaterOutputStream gzip = new BestGzip(compressed)) {
            gzip.write(content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return compressed.toByteArray();
    }

    private static final class BestGzip extends GZIPOutputStream {

        BestGzip(OutputStream out) throws IOException {
            super(out);
            def.setLevel(Deflater.BEST_COMPRESSION);
        }
    }

    static byte[] content(String name) {
        String text = name.equals("console.js") ? script() : new String(read(name), StandardCharsets.UTF_8);
        return FOR_READERS.matcher(text).replaceAll("").getBytes(StandardCharsets.UTF_8);
    }

    /** All modules in one file: it is loaded by one request, and compresses better. */
    static String script() {
        StringBuilder script = new StringBuilder();
        for (String module : MODULES) {
            String text = new String(read(module), StandardCharsets.UTF_8);
            script.append(EXPORT.matcher(IMPORT.matcher(text).replaceAll("")).replaceAll(""));
        }
        return script.toString();
    }

    private static byte[] read(String name) {
        try (InputStream in = Assets.class.getResourceAsStream("assets/" + name)) {
            if (in == null) {
                throw new IllegalStateException("The file " + name + " of the console is missing in its jar.");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The entity tag of a content. */
    static String tag(byte[] content) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(content);
            return '"' + HexFormat.of().formatHex(digest, 0, 8) + '"';
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
