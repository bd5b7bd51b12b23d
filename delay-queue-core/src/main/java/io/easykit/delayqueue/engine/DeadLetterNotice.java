package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DeadLetter;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.UndecodableMessageException;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The message that announces a dead letter: its body and headers, and further headers about its end. Time of death and id make
 * its own id and nonce, so that one that is sent twice is a duplicate, and each death has another one.
 */
final class DeadLetterNotice {

    static final String PREFIX = "dead-letter.";

    private static final String TOPIC = PREFIX + "topic";
    private static final String ID = PREFIX + "id";
    private static final String DIED_AT = PREFIX + "died-at";
    private static final String FAILURES = PREFIX + "failures";
    private static final String LEASE_EXPIRATIONS = PREFIX + "lease-expirations";
    private static final String FIRST_ERROR = PREFIX + "first-error";
    private static final String LAST_ERROR = PREFIX + "last-error";

    /** A longer id is replaced by its hash. */
    private static final int MAX_ID_LENGTH = 400;

    private DeadLetterNotice() {}

    /**
     * Encodes a notice.
     *
     * @throws NewerFrameException if only a later version can read the dead letter
     */
    static NewMessage of(String topic, StoredMessage dead) {
        Envelope envelope = envelope(dead);
        Map<String, String> headers = new LinkedHashMap<>(envelope.headers());
        StoredMessage.History history = dead.history();
        headers.put(TOPIC, topic);
        headers.put(ID, dead.id());
        headers.put(DIED_AT, Long.toString(dead.at().toEpochMilli()));
        headers.put(FAILURES, Integer.toString(history == null ? 0 : history.failures()));
        headers.put(LEASE_EXPIRATIONS, Integer.toString(history == null ? 0 : history.leaseExpirations()));
        headers.put(FIRST_ERROR, text(dead.firstError()));
        headers.put(LAST_ERROR, text(dead.lastError()));
        Envelope notice = new Envelope(nonce(topic, dead), headers, null, envelope.body());
        return new NewMessage(id(dead), DueTime.after(Duration.ZERO), notice.encode());
    }

    /** A dead letter without a body, or with garbage, is announced without one. */
    private static Envelope envelope(StoredMessage dead) {
        Bytes frame = dead.frame();
        try {
            if (frame != null) {
                return Envelope.decode(frame);
            }
        } catch (NewerFrameException isForAnother) {
            throw isForAnother;
        } catch (UndecodableMessageException garbage) {
            // The notice has the error of the message.
        }
        return new Envelope(0, Map.of(), null, Bytes.NONE);
    }

    private static String text(@Nullable ErrorNote note) {
        return note == null ? "" : note.text();
    }

    static String id(StoredMessage dead) {
        String id =
                dead.id().length() <= MAX_ID_LENGTH ? dead.id() : HexFormat.of().formatHex(hash(dead.id()));
        return dead.at().toEpochMilli() + "/" + id;
    }

    /** The same if a death is announced again, so that its listener recognizes the repetition. */
    private static long nonce(String topic, StoredMessage dead) {
        return ByteBuffer.wrap(hash(topic + "/" + id(dead))).getLong();
    }

    private static byte[] hash(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * Decodes a notice. A payload that cannot be read is null, because that may be the reason of the death.
     *
     * @throws UndecodableMessageException if the message is no notice
     */
    static DeadLetter<Object> decode(Envelope notice, PayloadCodec codec, Type type) {
        Map<String, String> headers = notice.headers();
        Map<String, String> own = new LinkedHashMap<>(headers);
        own.keySet().removeIf(name -> name.startsWith(PREFIX));
        try {
            return new DeadLetter<>(
                    Objects.requireNonNull(headers.get(TOPIC)),
                    Objects.requireNonNull(headers.get(ID)),
                    payload(notice.body(), codec, type),
                    own,
                    Instant.ofEpochMilli(Long.parseLong(headers.get(DIED_AT))),
                    Integer.parseInt(headers.get(FAILURES)),
                    Integer.parseInt(headers.get(LEASE_EXPIRATIONS)),
                    headers.getOrDefault(FIRST_ERROR, ""),
                    headers.getOrDefault(LAST_ERROR, ""));
        } catch (NullPointerException | NumberFormatException quotesAHeader) {
            throw new UndecodableMessageException(
                    "The message does not announce a dead letter: send no own messages to this topic.", null);
        }
    }

    private static @Nullable Object payload(Bytes body, PayloadCodec codec, Type type) {
        if (body.length() == 0) {
            return null;
        }
        try {
            return codec.decode(body, type);
        } catch (Throwable unreadable) {
            if (unreadable instanceof VirtualMachineError broken && !(unreadable instanceof StackOverflowError)) {
                throw broken;
            }
            return null;
        }
    }
}
