package io.easykit.delayqueue.admin;

import io.easykit.delayqueue.support.NameRules;
import org.jspecify.annotations.Nullable;

/**
 * A message of a topic.
 *
 * @param incarnation as the message shows it ({@link MessageSummary#incarnation}); null for any message with this id
 */
public record MessageRef(String id, @Nullable String incarnation) {

    public MessageRef {
        NameRules.requireId(NameRules.requireWellFormed(id));
        if (incarnation != null && !incarnation.matches("([0-9a-f]{2}){1,8}")) {
            throw new IllegalArgumentException(
                    "The incarnation of a message is not usable: give the one that the message shows, or none.");
        }
    }
}
