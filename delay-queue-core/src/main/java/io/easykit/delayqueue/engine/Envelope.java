package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.UndecodableMessageException;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.LogText;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message as its sender made it, and its form in the store, the <em>frame</em>. State that changes later (counts, errors)
 * is kept elsewhere.
 *
 * <p>The frame: 8 bytes of nonce, a byte of version, a byte of flags (bit 0 headers, bit 1 a retry policy), headers and
 * policy if present, and the body as the rest. Numbers are varints. The nonce comes first in every version, because it
 * distinguishes two incarnations of an id: see {@link #incarnation}. An empty message costs 10 bytes.
 *
 * @param nonce   random, a new one for each send, the same when the same send is repeated
 * @param headers names and values; iteration keeps their order
 * @param retry   the message's own retry policy, or null for that of its topic
 * @param body    the encoded payload
 */
record Envelope(long nonce, Map<String, String> headers, @Nullable RetryPolicy retry, Bytes body) {

    private static final int VERSION = 1;

    /** A frame with a greater number is garbage. */
    private static final int NEWEST_POSSIBLE = 31;

    private static final int HEADERS = 1;
    private static final int RETRY = 2;

    public Envelope {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /** The first bytes of every frame with this nonce: by them, cancel and reschedule mean one life of an id only. */
    public static Bytes incarnation(long nonce) {
        return Bytes.of(ByteBuffer.allocate(Long.BYTES).putLong(nonce).array());
    }

    public Bytes encode() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(body.length() + 32);
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeLong(nonce);
            out.writeByte(VERSION);
            out.writeByte((headers.isEmpty() ? 0 : HEADERS) | (retry == null ? 0 : RETRY));
            if (!headers.isEmpty()) {
                writeHeaders(out);
            }
            if (retry != null) {
                write(out, retry);
            }
            out.write(body.array());
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return Bytes.of(bytes.toByteArray());
    }

    /**
     * Reads a frame.
     *
     * @throws NewerFrameException         when the frame is of a later version
     * @throws UndecodableMessageException when this is no frame
     */
    public static Envelope decode(Bytes frame) {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(frame.array()));
        try {
            long nonce = in.readLong();
            int version = in.readUnsignedByte();
            int content = in.readUnsignedByte();
            if (version > VERSION && version <= NEWEST_POSSIBLE) {
                throw new NewerFrameException("frames of version " + version);
            }
            if (version != VERSION) {
                throw new UndecodableMessageException(
                        "The message has the frame version " + version + ", which never existed.", null);
            }
            if ((content & ~(HEADERS | RETRY)) != 0) {
                throw new NewerFrameException("frames with the parts " + Integer.toBinaryString(content));
            }
            Map<String, String> headers = (content & HEADERS) == 0 ? Map.of() : readHeaders(in);
            RetryPolicy retry = (content & RETRY) == 0 ? null : readRetry(in);
            return new Envelope(nonce, headers, retry, Bytes.of(in.readAllBytes()));
        } catch (IOException | IllegalArgumentException e) {
            throw new UndecodableMessageException("The message is not an envelope of this queue: " + frame + ".", e);
        }
    }

    /** Header values of a frame that ends within its headers. The last one may be cut. Empty if it is no frame. */
    static List<String> headerValuesOfPart(Bytes frame) {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(frame.array()));
        List<String> values = new ArrayList<>();
        try {
            in.readLong();
            if (in.readUnsignedByte() != VERSION || (in.readUnsignedByte() & HEADERS) == 0) {
                return values;
            }
            for (long left = readVarint(in); left > 0; left--) {
                readText(in);
                long length = readVarint(in);
                values.add(new String(in.readNBytes((int) Math.min(length, in.available())), StandardCharsets.UTF_8));
            }
        } catch (IOException end) {
            return values;
        }
        return values;
    }

    /** Without header values: they do not belong in logs. */
    @Override
    public String toString() {
        return "Envelope[nonce=" + nonce + ", headers=" + LogText.list(List.copyOf(headers.keySet())) + ", retry="
                + retry + ", body=" + body + "]";
    }

    private void writeHeaders(DataOutputStream out) throws IOException {
        writeVarint(out, headers.size());
        for (Map.Entry<String, String> header : headers.entrySet()) {
            writeText(out, header.getKey());
            writeText(out, header.getValue());
        }
    }

    private static Map<String, String> readHeaders(DataInputStream in) throws IOException {
        Map<String, String> headers = new LinkedHashMap<>();
        for (long left = readVarint(in); left > 0; left--) {
            headers.put(readText(in), readText(in));
        }
        return headers;
    }

    private static void write(DataOutputStream out, RetryPolicy retry) throws IOException {
        writeVarint(out, retry.maxAttempts());
        writeVarint(out, retry.firstDelay().toMillis());
        out.writeDouble(retry.multiplier());
        writeVarint(out, retry.maxDelay().toMillis());
        out.writeDouble(retry.jitter());
    }

    private static RetryPolicy readRetry(DataInputStream in) throws IOException {
        int maxAttempts = (int) readVarint(in);
        Duration firstDelay = Duration.ofMillis(readVarint(in));
        double multiplier = in.readDouble();
        Duration maxDelay = Duration.ofMillis(readVarint(in));
        return new RetryPolicy(maxAttempts, firstDelay, multiplier, maxDelay, in.readDouble());
    }

    private static void writeText(DataOutputStream out, String text) throws IOException {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        writeVarint(out, utf8.length);
        out.write(utf8);
    }

    private static String readText(DataInputStream in) throws IOException {
        long length = readVarint(in);
        if (length > in.available()) {
            throw new IOException("A text of " + length + " bytes does not fit into the frame");
        }
        return new String(in.readNBytes((int) length), StandardCharsets.UTF_8);
    }

    private static void writeVarint(DataOutputStream out, long value) throws IOException {
        long rest = value;
        while (rest > 0x7F) {
            out.writeByte((int) (rest & 0x7F) | 0x80);
            rest >>>= 7;
        }
        out.writeByte((int) rest);
    }

    private static long readVarint(DataInputStream in) throws IOException {
        long value = 0;
        for (int shift = 0; shift < 63; shift += 7) {
            int next = in.readUnsignedByte();
            value |= (long) (next & 0x7F) << shift;
            if (next < 0x80) {
                return value;
            }
        }
        throw new IOException("A number is too long");
    }
}
