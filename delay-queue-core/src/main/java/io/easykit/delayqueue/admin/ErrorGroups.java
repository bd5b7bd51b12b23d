package io.easykit.delayqueue.admin;

import java.time.Instant;
import java.util.List;

/**
 * Dead letters of a topic by their latest errors.
 *
 * @param total   dead letters of the topic
 * @param scanned how many of these were read, the oldest of each shard first
 * @param groups  the largest first
 * @param refused why shards are missing, one text for each: the store refused to read them
 */
public record ErrorGroups(String topic, long total, long scanned, List<Count> groups, List<String> refused) {

    public ErrorGroups {
        groups = List.copyOf(groups);
        refused = List.copyOf(refused);
    }

    /** Whether all dead letters of the topic were read. */
    public boolean isComplete() {
        return scanned >= total && refused.isEmpty();
    }

    /**
     * One group.
     *
     * @param first  oldest death
     * @param last   latest death
     * @param sample the dead letter that died first
     */
    public record Count(ErrorGroup group, long count, Instant first, Instant last, DeadLetterRef sample) {}
}
