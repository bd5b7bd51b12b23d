package io.easykit.delayqueue;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

/** How many shards each topic has: as configured, provided that the store has kept no other count. */
final class Topics {

    private final QueueStore store;
    private final ToIntFunction<String> configured;
    private final Map<String, Integer> confirmed = new ConcurrentHashMap<>();

    Topics(QueueStore store, ToIntFunction<String> configured) {
        this.store = store;
        this.configured = configured;
    }

    /** For those who send or listen: the store keeps the count from the first time on. */
    int shards(String topic) {
        Integer known = confirmed.get(topic);
        return known != null ? known : confirm(topic, store.declare(topic, configured(topic)));
    }

    /** For those who look: a topic that nobody has used, such as a mistyped one, leaves no trace in the store. */
    int shardsToLookAt(String topic) {
        Integer known = confirmed.get(topic);
        if (known != null) {
            return known;
        }
        int kept = store.declared(topic);
        return kept == 0 ? configured(topic) : confirm(topic, kept);
    }

    /** What the settings say, without asking the store. */
    int configured(String topic) {
        int shards = configured.applyAsInt(topic);
        if (shards < 1 || shards > ShardKey.MAX_SHARDS) {
            throw new IllegalArgumentException(
                    "Topic '" + topic + "' is given " + shards + " shards: give it 1 to " + ShardKey.MAX_SHARDS + ".");
        }
        return shards;
    }

    List<ShardKey> keysToLookAt(String topic) {
        return keys(topic, shardsToLookAt(topic));
    }

    static List<ShardKey> keys(String topic, int shards) {
        return IntStream.range(0, shards).mapToObj(n -> new ShardKey(topic, n)).toList();
    }

    private int confirm(String topic, int kept) {
        int wanted = configured(topic);
        if (kept != wanted) {
            throw new TopicConflictException(
                    "Topic '" + topic + "' has " + kept + " shards in the store, and the settings say " + wanted + ".",
                    "Set " + kept + ": messages of the other shards would not be found.");
        }
        confirmed.put(topic, kept);
        return kept;
    }
}
