package io.easykit.delayqueue.admin;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One page of the messages of a topic.
 *
 * @param total    messages in the same state, in the shards that the page covers
 * @param rank     how many of these come before the first message of the page
 * @param shard    the only shard that the page covers, or null if it covers all shards of the topic
 * @param messages in the order of the query
 * @param next     cursor of the next page ({@link MessageQuery#after}), or null if this is the last one
 * @param refused  why shards are missing, one text for each: the store refused to read them. Empty if the page is complete
 */
public record MessagePage(
        long total,
        long rank,
        @Nullable Integer shard,
        List<MessageSummary> messages,
        @Nullable String next,
        List<String> refused) {

    public MessagePage {
        messages = List.copyOf(messages);
        refused = List.copyOf(refused);
    }
}
