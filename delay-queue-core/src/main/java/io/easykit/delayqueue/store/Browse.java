package io.easykit.delayqueue.store;

import io.easykit.delayqueue.MessageInfo;
import org.jspecify.annotations.Nullable;

/**
 * Selects a page of one place of a shard.
 *
 * @param newestFirst whether the latest time comes first
 * @param after       where the page before ended, or null for the first page. No message has to be there any more
 * @param count       1 to {@link QueueStore#MAX_BATCH}
 * @param frameBytes  how much of each frame is read, 0 to {@link #MOST_FRAME_BYTES}
 */
public record Browse(
        MessageInfo.State place, boolean newestFirst, @Nullable Position after, int count, int frameBytes) {

    public static final int MOST_FRAME_BYTES = 1 << 14;

    public Browse {
        require(count >= 1 && count <= QueueStore.MAX_BATCH, "A page has 1 to " + QueueStore.MAX_BATCH + " messages");
        require(
                frameBytes >= 0 && frameBytes <= MOST_FRAME_BYTES,
                "At most " + MOST_FRAME_BYTES + " of a frame are read");
    }

    private static void require(boolean holds, String complaint) {
        if (!holds) {
            throw new IllegalArgumentException(complaint + ".");
        }
    }
}
