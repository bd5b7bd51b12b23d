package io.easykit.cache.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** The reply of {@code TIME}: seconds and microseconds, as texts. */
final class RedisTime {

    private RedisTime() {}

    static long toMillis(List<byte[]> reply) {
        return number(reply.get(0)) * 1000 + number(reply.get(1)) / 1000;
    }

    private static long number(byte[] text) {
        return Long.parseLong(new String(text, StandardCharsets.US_ASCII));
    }
}
