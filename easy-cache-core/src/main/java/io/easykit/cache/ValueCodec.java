package io.easykit.cache;

import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Encodes values and decodes them, by the generic type that the cached method declares. The bytes contain no class names.
 *
 * <p>Bytes that cannot be decoded are a miss and are replaced, for any exception. A value is stored only if the value decoded
 * from its bytes has the same content; see "Values" in the documentation.
 */
public interface ValueCodec {

    byte[] encode(Object value, Type type);

    Object decode(byte[] bytes, Type type);

    /**
     * Finds what keeps all values of a type from being restored, as far as the type shows it.
     *
     * @return a sentence with the cause; null if nothing is known against the type
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
