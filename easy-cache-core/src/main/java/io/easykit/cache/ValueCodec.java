package io.easykit.cache;

import java.lang.reflect.Type;

/**
 * Values to bytes and back, by the generic type that the cached method declares. No class names in the bytes.
 *
 * <p>Bytes that cannot be decoded, whatever the exception, are a miss and are replaced.
 */
public interface ValueCodec {

    byte[] encode(Object value, Type type);

    Object decode(byte[] bytes, Type type);
}
