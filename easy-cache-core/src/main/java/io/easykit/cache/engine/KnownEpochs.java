package io.easykit.cache.engine;

import io.easykit.cache.store.PrefixEpochs;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What this node has read from one hash. Changes as a whole: a reader that sees one of the epochs that were raised together
 * sees all of them.
 *
 * @param epochs the highest that were ever read
 * @param clearing prefixes with a clearing, in the latest read
 * @param readAt ticker time at which the latest read was sent
 * @param over the connection of the latest read; null before the first one, and after {@link #unknown}
 * @param every the epoch of {@link EpochRange#EVERY_PREFIX}, also for prefixes without one of their own
 */
record KnownEpochs(
        Map<String, Long> epochs,
        Set<String> clearing,
        long readAt,
        MarkHistory.@Nullable Connection over,
        long every) {

    /** Before the first read. */
    static final KnownEpochs NONE = new KnownEpochs(Map.of(), Set.of(), 0, null, 0);

    private static KnownEpochs of(
            Map<String, Long> epochs, Set<String> clearing, long readAt, MarkHistory.@Nullable Connection over) {
        return new KnownEpochs(epochs, clearing, readAt, over, epochs.getOrDefault(EpochRange.EVERY_PREFIX, 0L));
    }

    /** The highest epoch of a prefix that was ever read; 0 without one. Called by each read. */
    long of(String prefix) {
        return Math.max(epochs.getOrDefault(prefix, 0L), every);
    }

    /** As {@link #of}; for every prefix the highest of all. */
    long floor(String prefix) {
        return prefix.equals(EpochRange.EVERY_PREFIX)
                ? epochs.values().stream().mapToLong(epoch -> epoch).max().orElse(0)
                : of(prefix);
    }

    KnownEpochs with(Map<String, Long> more) {
        return of(highest(more), clearing, readAt, over);
    }

    KnownEpochs with(PrefixEpochs stored, long sentAt, MarkHistory.Connection connection) {
        Map<String, Long> highest = highest(stored.raised());
        boolean late = over != null && sentAt - readAt < 0;
        return late ? of(highest, clearing, readAt, over) : of(highest, stored.clearing(), sentAt, connection);
    }

    private Map<String, Long> highest(Map<String, Long> more) {
        Map<String, Long> all = new HashMap<>(epochs);
        more.forEach((prefix, epoch) -> all.merge(prefix, epoch, Math::max));
        return all;
    }

    KnownEpochs unknown() {
        return of(epochs, clearing, readAt, null);
    }
}
