package io.easykit.delayqueue;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

/**
 * How many shards each topic has. The store keeps the count from the first use on. Settings need not say it again; if they
 * do, they must say the same.
 */
final class Topics {

    /** Stands for a count that the settings leave to the store. */
    static final int UNSET = 0;

    private static final int DEFAULT = 1;

    private final QueueStore store;
    private final ToIntFunction<String> configured;
    private final Map<String, Integer> confirmed = new ConcurrentHashMap<>();

    Topics(QueueStore store, ToIntFunction<String> configured) {
        this.store = store;
        this.configured = configured;
    }

    /** For those who send or listen: the store keeps the count from the first time on. */
    int shards(String topic) {
        requireTopic(topic);
        Integer known = confirmed.get(topic);
        return known != null ? known : confirm(topic, store.declare(topic, assumed(topic)));
    }

    /**
     * Reads the count again: it may have been changed by hand while a part of the store was away.
     *
     * @throws TopicConflictException if it is no longer the one in the settings
     */
    int reread(String topic) {
        Integer known = confirmed.get(topic);
        return confirm(topic, store.declare(topic, known != null ? known : assumed(topic)));
    }

    /** For those who look: a topic that nobody has used, such as a mistyped one, leaves no trace in the store. */
    int shardsToLookAt(String topic) {
        requireTopic(topic);
        Integer known = confirmed.get(topic);
        if (known != null) {
            return known;
        }
        int kept = store.declared(topic);
        return kept == 0 ? assumed(topic) : confirm(topic, kept);
    }

    /** The count of a topic that was never used, and until the store answers: as set, else 1. */
    int assumed(String topic) {
        int shards = configured.applyAsInt(topic);
        if (shards < UNSET || shards > ShardKey.MAX_SHARDS) {
            throw new IllegalArgumentException(
                    "Topic '" + topic + "' is given " + shards + " shards: give it 1 to " + ShardKey.MAX_SHARDS + ".");
        }
        return shards == UNSET ? DEFAULT : shards;
    }

    /** The count as far as it is known without a call. */
    int expected(String topic) {
        Integer known = confirmed.get(topic);
        return known != null ? known : assumed(topic);
    }

    List<ShardKey> keysToLookAt(String topic) {
        return keys(topic, shardsToLookAt(topic));
    }

    static List<ShardKey> keys(String topic, int shards) {
        return IntStream.range(0, shards).mapToObj(n -> new ShardKey(topic, n)).toList();
    }

    private static void requireTopic(String topic) {
        Objects.requireNonNull(topic, "A topic that is null: give the topic that the listener names.");
    }

    private int confirm(String topic, int kept) {
        int wanted = configured.applyAsInt(topic);
        if (wanted != UNSET && kept != wanted) {
            throw new TopicConflictException(
                    "Topic '" + topic + "' has " + kept + " shards in the store, and the settings say " + wanted + ".",
                    "Set " + kept + ", or nothing: messages of the other shards would not be found.");
        }
        confirmed.put(topic, kept);
        return kept;
    }
}
