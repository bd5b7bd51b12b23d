package io.easykit.delayqueue;

import java.lang.reflect.Type;

/**
 * Turns payloads into bytes and back. Both ends agree on the type; the bytes do not name it. Whatever {@link #decode} throws
 * makes the message dead, with its bytes kept.
 */
public interface PayloadCodec {

    Bytes encode(Object payload);

    /**
     * The payload that the bytes stand for.
     *
     * @param type of the listener's parameter, generics included
     */
    Object decode(Bytes body, Type type);
}
