package io.easykit.delayqueue;

import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Turns payloads into bytes and back. Both ends agree on the type; the bytes do not name it.
 *
 * <p>Whatever {@link #decode} throws counts as a failed run: the message is tried again after its back-off, because a node of
 * a newer or older version may be able to read it, and is dead after the last attempt, with its bytes kept. Exceptions should
 * not quote the payload, because their messages reach logs.
 */
public interface PayloadCodec {

    Bytes encode(Object payload);

    /**
     * As {@link #encode(Object)}, for a payload whose class does not tell everything, such as a list of a polymorphic type.
     *
     * @param type the declared type, generics included, or null if the sender gave none
     */
    default Bytes encode(Object payload, @Nullable Type type) {
        return encode(payload);
    }

    /**
     * The payload that the bytes stand for.
     *
     * @param type of the listener's parameter, generics included
     */
    Object decode(Bytes body, Type type);

    /**
     * What keeps every payload of a type from being decoded; null if nothing does, or if only a payload will tell. Asked at
     * the start for each listener.
     */
    default @Nullable String problemWith(Type type) {
        return null;
    }
}
