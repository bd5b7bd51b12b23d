package io.easykit.delayqueue.store;

import java.util.List;

/**
 * One page of a place.
 *
 * @param total   how many there are in the place
 * @param refused of a page of several shards: why shards are missing, one text for each
 */
public record Page(long total, List<StoredMessage> messages, List<String> refused) {

    /** A page that nothing is missing from. */
    public Page(long total, List<StoredMessage> messages) {
        this(total, messages, List.of());
    }
}
