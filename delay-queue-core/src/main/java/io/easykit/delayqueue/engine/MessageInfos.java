package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.UndecodableMessageException;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.support.Bytes;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Decodes stored messages for the administration. */
final class MessageInfos {

    private MessageInfos() {}

    /** A frame that cannot be decoded is reported as damage, so that the other fields can still be read. */
    static MessageInfo of(String topic, StoredMessage message) {
        Bytes frame = message.frame();
        String damage = message.damage();
        Envelope envelope = null;
        try {
            envelope = frame == null ? null : Envelope.decode(frame);
        } catch (UndecodableMessageException e) {
            String problem = String.valueOf(e.getMessage());
            damage = damage == null ? problem : damage + "; " + problem;
        }
        return of(topic, message, envelope, damage);
    }

    private static MessageInfo of(
            String topic, StoredMessage message, @Nullable Envelope envelope, @Nullable String damage) {
        StoredMessage.History history = message.history();
        return new MessageInfo(
                topic,
                message.id(),
                message.state(),
                message.at(),
                history == null ? 0 : history.failures(),
                history == null ? 0 : history.leaseExpirations(),
                history == null ? 0 : history.releases(),
                history == null ? null : history.owner(),
                message.firstError(),
                message.lastError(),
                envelope == null ? Map.of() : envelope.headers(),
                envelope == null ? null : envelope.body(),
                damage);
    }
}
