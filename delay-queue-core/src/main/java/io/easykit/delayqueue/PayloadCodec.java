package io.easykit.delayqueue;

import io.easykit.delayqueue.support.Bytes;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Encodes payloads, and decodes them. Both ends agree on the type; the bytes do not name it.
 *
 * <p>An exception of {@link #decode} counts as a failed run. The message is retried after its back-off, because a node of
 * another version may be able to read it, and becomes a dead letter with its bytes after the last attempt. The text of an
 * {@link UndecodableMessageException} is logged and kept with the message, so it should not quote the payload. Of other
 * exceptions only the type and the stack trace are kept.
 */
public interface PayloadCodec {

    Bytes encode(Object payload);

    /**
     * As {@link #encode(Object)}, for a payload whose class is not enough, such as a list of a polymorphic type.
     *
     * @param type the declared type, generics included, or null if the sender gave none
     */
    default Bytes encode(Object payload, @Nullable Type type) {
        return encode(payload);
    }

    /**
     * Decodes a payload.
     *
     * @param type of the listener's parameter, generics included
     */
    Object decode(Bytes body, Type type);

    /**
     * Returns why no payload of this type can be decoded, or null if there is no such reason. Called at the start for each
     * listener.
     */
    default @Nullable String problemWith(Type type) {
        return null;
    }
}
