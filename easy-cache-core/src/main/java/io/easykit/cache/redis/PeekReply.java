package io.easykit.cache.redis;

import io.easykit.cache.store.Peeked;
import io.easykit.redis.ListReply;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The reply of the script peek. */
final class PeekReply {

    private enum Field {
        NOW,
        VALUE,
        REMAINING,
        STATE
    }

    private static final long STALE = 1;
    private static final long EXPIRED = 2;

    private PeekReply() {}

    static @Nullable Peeked peeked(@Nullable Object answer) {
        ListReply reply = ListReply.of(CacheScript.PEEK.file(), answer, Field.class);
        if (!reply.has(Field.VALUE)) {
            return null;
        }
        long state = reply.has(Field.STATE) ? reply.number(Field.STATE) : 0;
        return new Peeked(
                EntryFields.envelope(reply.bytes(Field.VALUE)),
                Duration.ofMillis(reply.number(Field.REMAINING)),
                state == STALE,
                state == EXPIRED);
    }
}
