package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardCount;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.TopicStore;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The shards of each topic. The store keeps the count from the first use on. Settings may leave it out.
 *
 * <p><b>Loss.</b> Senders read the count again every minute: the store may have lost it (FLUSHALL, an evicted key, a restart without
 * its last writes), and a node that starts afterwards would declare another one. Then messages would wait in shards that no
 * listener claims from. Reading also declares this node's count, so the first node that reads restores it.
 *
 * <p><b>Growth.</b> A greater count in the settings, or an operator, adds shards to a topic. Listeners learn of it within a
 * minute and a few seconds, because {@link TopicMonitor} reads the count every minute. Messages are sent to the new shards only
 * {@link KnownCount#OPENING} after the growth, so they do not wait there for a listener that does not know the shards. The home shards stay
 * the same, so nodes that know of the growth, and those that do not yet, find each own id in the same shard. A generated id that
 * names an unknown shard has the count read again.
 */
final class Topics {

    private static final Logger log = LoggerFactory.getLogger(Topics.class);

    /** Stands for a count that the settings leave to the store. */
    static final int UNSET = 0;

    private static final int DEFAULT = 1;

    private static final long REREAD_PAUSE = TimeUnit.MINUTES.toNanos(1);

    /** Between two readings that ids of unknown shards cause. Such ids may be made up. */
    private static final long LEAST_PAUSE = TimeUnit.SECONDS.toNanos(1);

    private final TopicStore store;
    private final TopicGrowth growth;
    private final ToIntFunction<String> configured;
    private final LongSupplier nanos;
    private final Map<String, KnownCount> confirmed = new ConcurrentHashMap<>();

    /** @param nanos a clock that only moves forward */
    Topics(QueueBackend store, ToIntFunction<String> configured, LongSupplier nanos) {
        this.store = store;
        this.growth = new TopicGrowth(store);
        this.configured = configured;
        this.nanos = nanos;
    }

    /** For senders and listeners: the store keeps the count from the first use on. */
    TopicShards shards(String topic) {
        requireTopic(topic);
        KnownCount known = confirmed.get(topic);
        if (known == null) {
            return confirm(topic, store.declare(topic, ShardCount.of(assumed(topic))), null);
        }
        return isOld(known) && isFirstToRead(topic, known) ? rereadIfPossible(topic, known) : view(topic, known);
    }

    /** Like {@link #shards}; as assumed while the store is away, or refuses. */
    TopicShards shardsOrAssumed(String topic) {
        try {
            return shards(topic);
        } catch (StoreUnavailableException | StoreRefusedException e) {
            log.debug("The shard count of {} cannot be confirmed yet", topic, e);
            return TopicShards.of(topic, assumed(topic));
        }
    }

    private boolean isOld(KnownCount known) {
        return nanos.getAsLong() - known.triedAt() >= REREAD_PAUSE;
    }

    private boolean isFirstToRead(String topic, KnownCount known) {
        return confirmed.replace(topic, known, known.triedAt(nanos.getAsLong()));
    }

    private TopicShards rereadIfPossible(String topic, KnownCount known) {
        try {
            return reread(topic);
        } catch (StoreUnavailableException | StoreRefusedException e) {
            return readLater(topic, known, e);
        } catch (TopicConflictException e) {
            // As at the first use, sends fail until this is fixed.
            forgetReading(topic, known);
            throw e;
        }
    }

    private TopicShards readLater(String topic, KnownCount known, RuntimeException failure) {
        log.debug("The shard count of {} is read again later", topic, failure);
        confirmed.computeIfPresent(topic, (name, read) -> read.endedAt(nanos.getAsLong()));
        return view(topic, known);
    }

    /**
     * Reads the count again: shards may have been added, or it may have been changed by hand while a part of the store was away.
     *
     * @throws TopicConflictException if it is no longer the one in the settings
     */
    TopicShards reread(String topic) {
        KnownCount known = confirmed.get(topic);
        return confirm(
                topic, store.declare(topic, known == null ? ShardCount.of(assumed(topic)) : known.count()), known);
    }

    /**
     * For administration, and for messages that are there: an unused topic, such as a mistyped one, leaves no trace in the store.
     * The settings may contradict: the topic may be that of another application.
     */
    TopicShards shardsToLookAt(String topic) {
        requireTopic(topic);
        KnownCount known = confirmed.get(topic);
        boolean reads = known == null || (isOld(known) && isFirstToRead(topic, known));
        return reads ? look(topic, known) : view(topic, Objects.requireNonNull(known));
    }

    /** Whether the store keeps the count of a topic, or the settings have one. Leaves no trace in the store. */
    boolean isUsed(String topic) {
        requireTopic(topic);
        return confirmed.containsKey(topic)
                || configured.applyAsInt(topic) != UNSET
                || store.declared(topic).isKept();
    }

    /** The shards in which these ids are to be found. A generated id may name a shard that was added meanwhile. */
    TopicShards shardsToLookAt(String topic, Collection<String> ids) {
        TopicShards shards = shardsToLookAt(topic);
        return shards.all() <= MessageIds.greatestNamed(ids) ? again(topic, shards, this::look) : shards;
    }

    /** As {@link #shardsToLookAt(String, Collection)}, for a message to store. */
    TopicShards shardsToStore(String topic, String id) {
        TopicShards shards = shards(topic);
        return shards.all() <= MessageIds.named(id) ? again(topic, shards, this::rereadIfPossible) : shards;
    }

    /** While another caller reads, this one reads too: what is known so far may lack the shard. */
    private TopicShards again(String topic, TopicShards shards, BiFunction<String, KnownCount, TopicShards> reading) {
        KnownCount known = confirmed.get(topic);
        if (known == null || nanos.getAsLong() - known.readAt() < LEAST_PAUSE) {
            return known != null && known.count().all() > shards.all() ? view(topic, known) : shards;
        }
        try {
            return reading.apply(topic, known);
        } finally {
            confirmed.computeIfPresent(topic, (name, read) -> read.endedAt(nanos.getAsLong()));
        }
    }

    private TopicShards look(String topic, @Nullable KnownCount known) {
        ShardCount kept;
        try {
            kept = store.declared(topic);
        } catch (StoreUnavailableException | StoreRefusedException e) {
            if (known == null) {
                throw e;
            }
            return readLater(topic, known, e);
        }
        if (!kept.isKept()) {
            return known == null ? TopicShards.of(topic, assumed(topic)) : view(topic, known);
        }
        if (known != null && known.hasMoreThan(kept)) {
            // The store has lost a growth. The next declaration restores it.
            forgetReading(topic, known);
            return view(topic, known);
        }
        if (!isAgainst(configured.applyAsInt(topic), topic, kept)) {
            return learn(topic, kept, known);
        }
        // Forget the count, because senders and listeners compare one only when they read it.
        forgetReading(topic, known);
        return new TopicShards(topic, kept.home(), kept.home(), kept.all());
    }

    /** Has the next call read the count again. */
    private void forgetReading(String topic, @Nullable KnownCount known) {
        if (known != null) {
            confirmed.computeIfPresent(topic, (name, read) -> read.triedAt(nanos.getAsLong() - REREAD_PAUSE));
        }
    }

    /**
     * Adds shards to a topic that was used.
     *
     * @return how many it had before
     * @throws TopicConflictException if the topic has more, or was never used
     */
    int grow(String topic, int all) {
        requireTopic(topic);
        if (all < 1 || all > ShardKey.MAX_SHARDS) {
            throw new IllegalArgumentException(
                    "Topic '" + topic + "' cannot have " + all + " shards: give 1 to " + ShardKey.MAX_SHARDS + ".");
        }
        ShardCount before = present(topic);
        KnownCount known = confirmed.get(topic);
        if (all < before.all()) {
            throw new TopicConflictException(
                    "Topic '" + topic + "' has " + before.all() + " shards in the store, and cannot have " + all + ".",
                    orMore(before));
        }
        ShardCount kept = growth.add(topic, before, all);
        if (!kept.isKept()) {
            throw new TopicConflictException(
                    "Topic '" + topic + "' was never used, so no shards can be added to it.",
                    "Check the name. The number of shards of a new topic is the setting delay-queue.topics.<topic>.shards.");
        }
        learn(topic, kept, known);
        if (kept.all() < all) {
            throw new TopicConflictException(
                    "Topic '" + topic + "' still has " + kept.all()
                            + " shards: somebody has changed its count by hand meanwhile.",
                    "Read the topic again, and repeat the call.");
        }
        return before.all();
    }

    /** The count that the store has kept, with a growth that it has lost and this node knows. */
    private ShardCount present(String topic) {
        KnownCount known = confirmed.get(topic);
        ShardCount kept = store.declared(topic);
        return known != null && known.hasMoreThan(kept) ? store.declare(topic, known.count()) : kept;
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

    /**
     * The shards as far as they are known without a call. Before the first call only shard 0 is sure to have listeners: the others
     * of the settings may be new.
     */
    TopicShards expected(String topic) {
        KnownCount known = confirmed.get(topic);
        int assumed = assumed(topic);
        return known != null ? view(topic, known) : new TopicShards(topic, assumed, 1, assumed);
    }

    /** The topics that were declared or found. */
    Map<String, KnownCount> known() {
        return Map.copyOf(confirmed);
    }

    List<ShardKey> keysToLookAt(String topic) {
        return shardsToLookAt(topic).keys();
    }

    /** As {@link #keysToLookAt}, read now: shards that were added within the last minute are among them. */
    List<ShardKey> presentKeys(String topic) {
        requireTopic(topic);
        return look(topic, confirmed.get(topic)).keys();
    }

    private static void requireTopic(String topic) {
        Objects.requireNonNull(topic, "A topic that is null: give the topic that the listener names.");
    }

    /** Compares the count with the settings, and adds the shards that they have more. */
    private TopicShards confirm(String topic, ShardCount kept, @Nullable KnownCount known) {
        int wanted = requireSettings(topic, kept);
        return learn(topic, wanted > kept.all() ? growth.addConfigured(topic, kept, wanted) : kept, known);
    }

    /** Returns the count in the settings, or {@link #UNSET}. The store does not keep it yet. */
    int configured(String topic) {
        return configured.applyAsInt(topic);
    }

    /** Returns the count in the settings, or {@link #UNSET}. */
    private int requireSettings(String topic, ShardCount kept) {
        int wanted = configured.applyAsInt(topic);
        if (isAgainst(wanted, topic, kept)) {
            throw new TopicConflictException(
                    "Topic '" + topic + "' has " + kept.all() + " shards in the store, and the settings say " + wanted
                            + ".",
                    orMore(kept));
        }
        return wanted;
    }

    private boolean isAgainst(int wanted, String topic, ShardCount kept) {
        KnownCount known = confirmed.get(topic);
        boolean isOther = known != null && known.count().home() != kept.home();
        return wanted != UNSET && (wanted < kept.home() || (isOther && wanted != kept.home()));
    }

    private static String orMore(ShardCount kept) {
        return "Set " + kept.all() + " or more, or nothing: messages of the other shards would not be found.";
    }

    /** @param before what was known before the call. A call that began later may have found more shards meanwhile */
    private TopicShards learn(String topic, ShardCount kept, @Nullable KnownCount before) {
        long now = nanos.getAsLong();
        KnownCount[] replaced = new KnownCount[1];
        KnownCount known = Objects.requireNonNull(confirmed.compute(topic, (name, present) -> {
            boolean isOvertaken = present != null && present.hasMoreThan(kept) && !present.hasCountOf(before);
            replaced[0] = isOvertaken ? null : present;
            return isOvertaken ? present : KnownCount.of(kept, present, now);
        }));
        KnownCount old = replaced[0];
        if (old != null && old.count().all() > kept.all()) {
            log.warn(
                    "Topic {} has {} shards in the store now, and had {}: the store has lost its settings, or somebody changed them."
                            + " Messages in the other shards are not delivered until the count is {} again",
                    topic,
                    kept.all(),
                    old.count().all(),
                    old.count().all());
        }
        return view(topic, known);
    }

    private TopicShards view(String topic, KnownCount known) {
        return known.shards(topic, nanos.getAsLong());
    }
}
