package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.MessageTooLargeException;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.UndecodableMessageException;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.Replacement;
import io.easykit.delayqueue.admin.Replacement.Outcome;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.support.Bytes;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Replaces dead letters by edited ones. The old message is read before, and the store replaces no other one. */
final class MessageReplacer {

    private final QueueBackend store;
    private final int maxMessageBytes;

    MessageReplacer(QueueBackend store, int maxMessageBytes) {
        this.store = store;
        this.maxMessageBytes = maxMessageBytes;
    }

    /** The retry policy of the message stays, if it can be read. */
    Replacement replace(
            ShardKey shard,
            DeadLetterRef death,
            @Nullable String incarnation,
            Map<String, String> headers,
            Bytes body) {
        OutgoingMessage checked = OutgoingMessage.of(shard.topic(), body);
        for (Map.Entry<String, String> header : headers.entrySet()) {
            checked = checked.header(header.getKey(), header.getValue());
        }
        Bytes old = store.find(shard, death.id()).map(StoredMessage::frame).orElse(null);
        Envelope before = decode(old);
        String found = old == null ? null : MessageSummaries.incarnation(old);
        if (incarnation != null && !incarnation.equals(found)) {
            return result(Outcome.OTHER_INCARNATION, old, before);
        }
        long nonce = ThreadLocalRandom.current().nextLong();
        Bytes frame = new Envelope(nonce, checked.headers(), before == null ? null : before.retry(), body).encode();
        if (frame.length() > maxMessageBytes) {
            throw new MessageTooLargeException(shard.topic(), frame.length(), maxMessageBytes);
        }
        Bytes fence = MessageSummaries.incarnation(found);
        return result(store.replace(shard, death, fence == null ? Bytes.NONE : fence, frame), old, before);
    }

    private static @Nullable Envelope decode(@Nullable Bytes frame) {
        try {
            return frame == null ? null : Envelope.decode(frame);
        } catch (NewerFrameException isForAnother) {
            // Its settings would be lost.
            throw isForAnother;
        } catch (UndecodableMessageException e) {
            return null;
        }
    }

    private static Replacement result(Outcome outcome, @Nullable Bytes frame, @Nullable Envelope old) {
        if (frame == null || old == null) {
            return new Replacement(outcome, null, 0, null, Map.of());
        }
        boolean isSmall = frame.length() <= Replacement.MOST_BYTES;
        return new Replacement(
                outcome,
                sha256(old.body()),
                old.body().length(),
                isSmall ? old.body() : null,
                isSmall ? old.headers() : Map.of());
    }

    private static String sha256(Bytes body) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body.array()));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
