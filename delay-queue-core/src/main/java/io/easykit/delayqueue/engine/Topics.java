package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.TopicStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The number of shards of each topic. The store keeps the count from the first use on. Settings may leave it out; if they
 * have it, it must be equal.
 *
 * <p>Senders read the count again each minute: the store may have lost it (FLUSHALL, an evicted key, a restart without its
 * last writes), and a node that starts afterwards would declare another one. Then messages would wait in shards that no
 * listener claims from. Reading also declares this node's count, so the first node that reads restores it.
 */
final class Topics {

    private static final Logger log = LoggerFactory.getLogger(Topics.class);

    /** Stands for a count that the settings leave to the store. */
    static final int UNSET = 0;

    private static final int DEFAULT = 1;

    private static final long REREAD_PAUSE = TimeUnit.MINUTES.toNanos(1);

    private final TopicStore store;
    private final ToIntFunction<String> configured;
    private final LongSupplier nanos;
    private final Map<String, Known> confirmed = new ConcurrentHashMap<>();

    private record Known(int shards, long rereadAt) {}

    /** @param nanos a clock that only moves forward */
    Topics(TopicStore store, ToIntFunction<String> configured, LongSupplier nanos) {
        this.store = store;
        this.configured = configured;
        this.nanos = nanos;
    }

    /** For senders and listeners: the store keeps the count from the first use on. */
    int shards(String topic) {
        requireTopic(topic);
        Known known = confirmed.get(topic);
        if (known == null) {
            return confirm(topic, store.declare(topic, assumed(topic)));
        }
        boolean rereads = nanos.getAsLong() - known.rereadAt >= 0
                && confirmed.replace(topic, known, new Known(known.shards, nextReread()));
        return rereads ? rereadIfPossible(topic, known.shards) : known.shards;
    }

    /** Like {@link #shards}; as assumed while the store is away, or refuses. */
    int shardsOrAssumed(String topic) {
        try {
            return shards(topic);
        } catch (StoreUnavailableException | StoreRefusedException e) {
            log.debug("The shard count of {} cannot be confirmed yet", topic, e);
            return assumed(topic);
        }
    }

    private int rereadIfPossible(String topic, int known) {
        try {
            return reread(topic);
        } catch (StoreUnavailableException | StoreRefusedException e) {
            log.debug("The shard count of {} is read again later", topic, e);
            return known;
        } catch (TopicConflictException e) {
            // As at the first use: nothing is sent until this is fixed.
            confirmed.remove(topic);
            throw e;
        }
    }

    /**
     * Reads the count again: it may have been changed by hand while a part of the store was away.
     *
     * @throws TopicConflictException if it is no longer the one in the settings
     */
    int reread(String topic) {
        return confirm(topic, store.declare(topic, expected(topic)));
    }

    /** For administration: an unused topic, such as a mistyped one, leaves no trace in the store. */
    int shardsToLookAt(String topic) {
        requireTopic(topic);
        Known known = confirmed.get(topic);
        if (known != null) {
            return known.shards;
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
        Known known = confirmed.get(topic);
        return known != null ? known.shards : assumed(topic);
    }

    /** The topics that were declared or found, with their counts. */
    Map<String, Integer> known() {
        Map<String, Integer> known = new HashMap<>();
        confirmed.forEach((topic, of) -> known.put(topic, of.shards));
        return known;
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
        Known before = confirmed.put(topic, new Known(kept, nextReread()));
        if (before != null && before.shards > kept) {
            log.warn(
                    "Topic {} has {} shards in the store now, and had {}: the store has lost its settings, or somebody changed them."
                            + " Messages in the other shards are not delivered until the count is {} again",
                    topic,
                    kept,
                    before.shards,
                    before.shards);
        }
        return kept;
    }

    private long nextReread() {
        return nanos.getAsLong() + REREAD_PAUSE;
    }
}
