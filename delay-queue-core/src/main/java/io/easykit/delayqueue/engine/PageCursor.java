package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.Position;
import io.easykit.delayqueue.store.ShardKey;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * Where a page of a topic ended, as text for callers.
 *
 * @param shard    the shard of the page, or {@link #MERGED}
 * @param position of its last message, or null at the beginning of a shard
 */
record PageCursor(int shard, @Nullable Position position) {

    static final int MERGED = -1;

    private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();

    String encode() {
        String text = position == null ? shard + " " : shard + " " + position.score() + " " + position.id();
        return ENCODER.encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    /** @throws IllegalArgumentException if no page has returned this cursor */
    static PageCursor decode(String text) {
        try {
            String[] parts = new String(Base64.getUrlDecoder().decode(text), StandardCharsets.UTF_8).split(" ", 3);
            int shard = Integer.parseInt(parts[0]);
            if (shard < MERGED || shard >= ShardKey.MAX_SHARDS) {
                throw new IllegalArgumentException("shard " + shard);
            }
            return new PageCursor(shard, parts.length < 3 ? null : new Position(parts[1], parts[2]));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "The cursor of a page is not usable: give the one that the page before has returned, or none.", e);
        }
    }
}
