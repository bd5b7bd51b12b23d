package io.easykit.delayqueue.store;

import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.support.Bytes;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of one place of a shard.
 *
 * @param total  messages in the place
 * @param before messages that come before the first one of the page, in the requested order
 */
public record Browsed(long total, long before, List<Entry> entries) {

    public Browsed {
        entries = List.copyOf(entries);
    }

    /** Whether the place goes on behind the page. */
    public boolean hasMore() {
        return !entries.isEmpty() && before + entries.size() < total;
    }

    /**
     * A message, of which long parts are cut.
     *
     * @param at        due time, end of its lease, or time of its death, by place
     * @param history   counts and times since it was first claimed, or null if it never was
     * @param lastError beginning of its cause and of its frames, or null
     * @param size      bytes of its frame; 0 if that was deleted
     * @param frame     the first bytes of its frame
     * @param damage    text about unreadable parts, or null
     */
    public record Entry(
            Position position,
            Instant at,
            StoredMessage.@Nullable History history,
            @Nullable ErrorNote lastError,
            int size,
            Bytes frame,
            @Nullable String damage) {

        public String id() {
            return position.id();
        }
    }
}
