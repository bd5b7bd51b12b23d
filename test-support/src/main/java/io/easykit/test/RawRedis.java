package io.easykit.test;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * A blocking RESP2 connection, to inspect a server without the client under test.
 *
 * <p>Not thread-safe. After an {@link UncheckedIOException} (connection lost, or no reply within the timeout) the
 * connection must not be used again.
 */
public final class RawRedis implements AutoCloseable {
    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    /** Received bytes; those from {@link #at} to {@link #end} are not read yet. */
    private final byte[] buffer = new byte[8192];

    private int at;
    private int end;

    private RawRedis(Socket socket) throws IOException {
        this.socket = socket;
        this.in = socket.getInputStream();
        this.out = new BufferedOutputStream(socket.getOutputStream());
    }

    /**
     * Opens a connection.
     *
     * @param timeout maximum time to wait for the connection, and for each reply
     * @throws UncheckedIOException if the connection is refused
     */
    public static RawRedis connect(String host, int port, Duration timeout) {
        return connect(host, port, timeout, null);
    }

    /** @param tls null for a connection without TLS */
    static RawRedis connect(String host, int port, Duration timeout, @Nullable SSLContext tls) {
        Socket socket = new Socket();
        try {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout((int) timeout.toMillis());
            socket.connect(new InetSocketAddress(host, port), (int) timeout.toMillis());
            return new RawRedis(tls == null ? socket : tls.getSocketFactory().createSocket(socket, host, port, true));
        } catch (IOException e) {
            closeQuietly(socket);
            throw new UncheckedIOException("No connection to Redis at " + host + ":" + port, e);
        }
    }

    /** Sends a command with text arguments; see {@link #command(byte[][])}. */
    public @Nullable Object command(String... arguments) {
        return command(Arrays.stream(arguments).map(a -> a.getBytes(UTF_8)).toArray(byte[][]::new));
    }

    /**
     * Sends a command and waits for its reply.
     *
     * @return a {@code Long}, a {@code String} (status), a {@code byte[]} (bulk string), a {@code List} of these, or
     *     {@code null}; an error inside a list, as in the reply of {@code EXEC}, is an element of type
     *     {@link RedisError}
     * @throws RedisError if the reply is an error
     */
    public @Nullable Object command(byte[]... arguments) {
        Object reply = pipeline(List.<byte[][]>of(arguments)).get(0);
        if (reply instanceof RedisError error) {
            throw error;
        }
        return reply;
    }

    /**
     * Sends all commands, then waits for all replies: one round trip.
     *
     * @return the reply to each command, as of {@link #command(byte[][])}; an error is an element of type {@link RedisError}
     */
    public List<@Nullable Object> pipeline(List<byte[][]> commands) {
        try {
            for (byte[][] command : commands) {
                write(command);
            }
            out.flush();
            List<@Nullable Object> replies = new ArrayList<>(commands.size());
            for (int i = 0; i < commands.size(); i++) {
                replies.add(read());
            }
            return replies;
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "No reply to "
                            + commands.stream().map(command -> text(command[0])).toList(),
                    e);
        }
    }

    /** Returns the fields of one section of {@code INFO}. */
    public Map<String, String> info(String section) {
        return fields("INFO", section);
    }

    /** Returns the reply of a command whose reply has lines of {@code name:value}. */
    Map<String, String> fields(String... command) {
        Map<String, String> fields = new LinkedHashMap<>();
        for (String line : text((byte[]) require(command)).split("\r\n", -1)) {
            int colon = line.indexOf(':');
            if (colon > 0 && !line.startsWith("#")) {
                fields.put(line.substring(0, colon), line.substring(colon + 1));
            }
        }
        return fields;
    }

    /** Sends a command whose reply must not be nil. */
    Object require(String... arguments) {
        return notNil(command(arguments));
    }

    /**
     * Returns the whole keyspace of database 0, sorted, to compare complete states.
     *
     * <p>Bytes that are not UTF-8 are written as {@code \xNN}, as in {@code redis-cli}. Keys are read by several
     * commands in three round trips, so there must be no other writer.
     *
     * @throws IllegalStateException if a key has a type that is not supported here (streams, module types)
     */
    public SortedMap<String, Stored> snapshot() {
        List<?> names = list(command("KEYS", "*"));
        List<byte[][]> looks = new ArrayList<>();
        for (Object name : names) {
            looks.add(new byte[][] {bytes("TYPE"), (byte[]) name});
            looks.add(new byte[][] {bytes("PTTL"), (byte[]) name});
        }
        List<Object> kinds = commands(looks);
        List<byte[][]> reads = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            String type = (String) kinds.get(2 * i);
            if (!type.equals("none")) {
                reads.add(reading(type, (byte[]) names.get(i)));
            }
        }
        Iterator<Object> contents = commands(reads).iterator();
        SortedMap<String, Stored> keyspace = new TreeMap<>();
        for (int i = 0; i < names.size(); i++) {
            String type = (String) kinds.get(2 * i);
            if (!type.equals("none")) {
                Object content = content(type, contents.next());
                keyspace.put(text((byte[]) names.get(i)), new Stored(type, content, (Long) kinds.get(2 * i + 1)));
            }
        }
        return keyspace;
    }

    @Override
    public void close() {
        closeQuietly(socket);
    }

    /** Returns the text of a bulk string, in the format of {@link #snapshot()}. */
    public static String text(byte[] bytes) {
        try {
            return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            StringBuilder spelled = new StringBuilder();
            for (byte b : bytes) {
                spelled.append(b >= 0x20 && b < 0x7f ? String.valueOf((char) b) : String.format("\\x%02x", b & 0xff));
            }
            return spelled.toString();
        }
    }

    /** The command that reads a key of this type. */
    private static byte[][] reading(String type, byte[] key) {
        return switch (type) {
            case "string" -> new byte[][] {bytes("GET"), key};
            case "list" -> new byte[][] {bytes("LRANGE"), key, bytes("0"), bytes("-1")};
            case "set" -> new byte[][] {bytes("SMEMBERS"), key};
            case "hash" -> new byte[][] {bytes("HGETALL"), key};
            case "zset" -> new byte[][] {bytes("ZRANGE"), key, bytes("0"), bytes("-1"), bytes("WITHSCORES")};
            default ->
                throw new IllegalStateException(
                        "Key " + text(key) + " has type " + type + ", which a snapshot does not support");
        };
    }

    private static Object content(String type, Object reply) {
        return switch (type) {
            case "string" -> text((byte[]) reply);
            case "set" -> new TreeSet<>(texts(reply));
            case "hash" -> new TreeMap<>(pairs(texts(reply)));
            case "zset" -> pairs(texts(reply));
            default -> texts(reply);
        };
    }

    /** As {@link #pipeline}, for commands whose replies must be neither errors nor nil. */
    private List<Object> commands(List<byte[][]> commands) {
        List<Object> replies = new ArrayList<>();
        for (Object reply : pipeline(commands)) {
            if (reply instanceof RedisError refused) {
                throw refused;
            }
            replies.add(notNil(reply));
        }
        return replies;
    }

    private static List<String> texts(Object reply) {
        return list(reply).stream().map(e -> text((byte[]) notNil(e))).toList();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static Map<String, String> pairs(List<String> flat) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (int i = 0; i < flat.size(); i += 2) {
            pairs.put(flat.get(i), flat.get(i + 1));
        }
        return pairs;
    }

    private static List<?> list(@Nullable Object reply) {
        return (List<?>) notNil(reply);
    }

    private static Object notNil(@Nullable Object reply) {
        if (reply == null) {
            throw new IllegalStateException("Redis replied nil instead of a value. The key may have expired.");
        }
        return reply;
    }

    private void write(byte[]... arguments) throws IOException {
        out.write(("*" + arguments.length + "\r\n").getBytes(UTF_8));
        for (byte[] argument : arguments) {
            out.write(("$" + argument.length + "\r\n").getBytes(UTF_8));
            out.write(argument);
            out.write("\r\n".getBytes(UTF_8));
        }
    }

    private @Nullable Object read() throws IOException {
        String line = readLine();
        String rest = line.substring(1);
        return switch (line.charAt(0)) {
            case '+' -> rest;
            case '-' -> new RedisError(rest);
            case ':' -> Long.valueOf(rest);
            case '$' -> readBulk(Integer.parseInt(rest));
            case '*' -> readList(Integer.parseInt(rest));
            default -> throw new IOException("Not a RESP2 reply: " + line);
        };
    }

    private byte @Nullable [] readBulk(int length) throws IOException {
        if (length < 0) {
            return null;
        }
        byte[] bytes = new byte[length];
        for (int filled = 0; filled < length; ) {
            fill();
            int some = Math.min(length - filled, end - at);
            System.arraycopy(buffer, at, bytes, filled, some);
            at += some;
            filled += some;
        }
        readByte();
        readByte();
        return bytes;
    }

    private @Nullable List<@Nullable Object> readList(int size) throws IOException {
        if (size < 0) {
            return null;
        }
        List<@Nullable Object> elements = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            elements.add(read());
        }
        return elements;
    }

    private String readLine() throws IOException {
        StringBuilder line = new StringBuilder();
        for (byte b = readByte(); b != '\n'; b = readByte()) {
            line.append((char) (b & 0xff));
        }
        line.setLength(line.length() - 1);
        return line.toString();
    }

    private byte readByte() throws IOException {
        fill();
        return buffer[at++];
    }

    /** Waits for further bytes if all have been read. */
    private void fill() throws IOException {
        if (at == end) {
            at = 0;
            end = Math.max(0, in.read(buffer));
            if (end == 0) {
                throw new EOFException("Redis closed the connection");
            }
        }
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // Nothing to clean up.
        }
    }

    /**
     * A key of a {@link #snapshot()}.
     *
     * @param type type of the key, as returned by {@code TYPE}
     * @param content a {@code String}, {@code List} (list), {@code SortedSet} (set), {@code SortedMap} (hash), or
     *     {@code Map} from member to score in the order of the scores (sorted set)
     * @param pttl remaining time to live in milliseconds; -1 for none
     */
    public record Stored(String type, Object content, long pttl) {}

    /** An error reply. The message is that of Redis. */
    public static final class RedisError extends RuntimeException {
        RedisError(String message) {
            super(message);
        }
    }
}
