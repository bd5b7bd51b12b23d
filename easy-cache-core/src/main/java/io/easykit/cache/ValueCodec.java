package io.easykit.cache;

import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Encodes values and decodes them, by the generic type that the cached method declares. The bytes contain no class names.
 *
 * <p>Bytes that cannot be decoded are a miss and are replaced, whatever the exception. A value is stored only if it is decoded to a
 * value with the same content; see "Values" in the documentation.
 */
public interface ValueCodec {

    byte[] encode(Object value, Type type);

    Object decode(byte[] bytes, Type type);

    /**
     * Returns why no value of a type can be decoded, as far as the type shows it.
     *
     * @return a sentence with the cause; null if no reason is known
     */
    default @Nullable String problemWith(Type type) {
        return null;
    }

    /**
     * Describes a failure of this codec for the log, in one line that quotes nothing of the value.
     *
     * @param failure what {@link #encode} or {@link #decode} has thrown; its message may quote the value
     */
    default String describe(Throwable failure) {
        return failure instanceof UncacheableValueException
                ? String.valueOf(failure.getMessage())
                : failure.getClass().getName();
    }
}
