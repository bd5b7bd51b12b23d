package io.easykit.delayqueue;

import io.easykit.delayqueue.support.Bytes;
import java.lang.reflect.ParameterizedType;
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

    /**
     * The type of a generic payload, such as {@code new PayloadType<List<Animal>>() {}}. A list does not carry the type of its
     * elements, so the type has to be written down where the message is made.
     *
     * @param <T> the type
     */
    abstract class PayloadType<T> {

        private final Type type;

        /** @throws IllegalArgumentException if the subclass names no type */
        protected PayloadType() {
            if (!(getClass().getGenericSuperclass() instanceof ParameterizedType parameterized)) {
                throw new IllegalArgumentException(
                        "A payload type without a type: write it down, as in new PayloadType<List<Animal>>() {}.");
            }
            this.type = parameterized.getActualTypeArguments()[0];
        }

        /** The type with its generics. */
        public final Type type() {
            return type;
        }

        @Override
        public final String toString() {
            return type.getTypeName();
        }
    }
}
