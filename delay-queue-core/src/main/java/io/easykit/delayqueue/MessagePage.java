package io.easykit.delayqueue;

import java.util.List;

/**
 * One page of the messages of a topic.
 *
 * @param total    number of messages in the same state
 * @param messages of this page
 * @param refused  why shards are missing, one text for each: the store refused to read them. Empty if the page is complete
 */
public record MessagePage(long total, List<MessageInfo> messages, List<String> refused) {

    public MessagePage {
        messages = List.copyOf(messages);
        refused = List.copyOf(refused);
    }
}
