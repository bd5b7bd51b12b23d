package io.easykit.console;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The files of the page, read once. */
final class Assets {

    static final List<String> NAMES = List.of("index.html", "icon.svg", "console.css", "console.js");

    /** The parts of console.js, each after those that it imports. */
    static final List<String> MODULES = List.of("lib.js", "messages.js", "queues.js", "caches.js", "console.js");

    private static final Pattern IMPORT = Pattern.compile("(?ms)^import \\{.*?\\} from '\\./\\w+\\.js';\n");
    private static final Pattern EXPORT = Pattern.compile("(?m)^export ");

    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html;charset=UTF-8",
            "css", "text/css;charset=UTF-8",
            "js", "text/javascript;charset=UTF-8",
            "svg", "image/svg+xml");

    /** A file as a whole reply. */
    private record Asset(ConsoleReply reply, String tag) {}

    private final Map<String, Asset> assets = new LinkedHashMap<>();

    Assets() {
        NAMES.forEach(name -> assets.put(name, load(name)));
    }

    /** @param path behind the console's path, with a slash */
    @Nullable ConsoleReply find(String path, ConsoleRequest request) {
        Asset asset = assets.get(path.equals("/") ? "index.html" : path.substring(1));
        if (asset == null) {
            return null;
        }
        String known = request.header("If-None-Match");
        ConsoleReply reply = known != null && known.contains(asset.tag()) ? ConsoleReply.empty(304) : asset.reply();
        return reply.with("ETag", asset.tag()).with("Cache-Control", "no-cache");
    }

    private static Asset load(String name) {
        byte[] content = content(name);
        String type = String.valueOf(TYPES.get(name.substring(name.lastIndexOf('.') + 1)));
        return new Asset(ConsoleReply.of(200, type, content), tag(content));
    }

    static byte[] content(String name) {
        return name.equals("console.js") ? script().getBytes(StandardCharsets.UTF_8) : read(name);
    }

    /** All modules in one file: it is loaded by one request, and compresses better. */
    private static String script() {
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
