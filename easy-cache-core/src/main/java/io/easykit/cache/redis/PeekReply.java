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
        IS_STALE
    }

    private PeekReply() {}

    static @Nullable Peeked peeked(@Nullable Object answer) {
        ListReply reply = ListReply.of(CacheScript.PEEK.file(), answer, Field.class);
        if (!reply.has(Field.VALUE)) {
            return null;
        }
        return new Peeked(
                EntryFields.envelope(reply.bytes(Field.VALUE)),
                Duration.ofMillis(reply.number(Field.REMAINING)),
                reply.has(Field.IS_STALE));
    }
}
