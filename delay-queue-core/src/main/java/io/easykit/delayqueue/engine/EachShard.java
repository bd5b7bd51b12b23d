package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.store.QueueInspector;
import io.easykit.delayqueue.store.ShardKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes a call for each shard of a topic, and collects the refusals. A shard that the store refuses, because one of its keys is
 * damaged, does not hide the others. An outage of the store ends it at once, unless it was created
 * {@linkplain #withOutageLimit with a limit} or to go on {@linkplain #despiteOutages despite outages}. A failure after a
 * {@linkplain #changed change} has an unknown outcome.
 */
final class EachShard {

    private static final String IN_PART = "A part of the change may have been made: ";

    private final List<DelayQueueException> refusals = new ArrayList<>();
    private final @Nullable OutageTimeLimit outageLimit;
    private final Set<ShardKey> silent;
    private int done;
    private boolean changed;

    EachShard() {
        this(null, new HashSet<>());
    }

    private EachShard(@Nullable OutageTimeLimit outageLimit, Set<ShardKey> silent) {
        this.outageLimit = outageLimit;
        this.silent = silent;
    }

    /**
     * Counts a shard that does not answer as a refused one, and waits for two of them at most.
     *
     * @param silent shards that did not answer lately, which come last; updated by the calls
     */
    static EachShard withOutageLimit(LongSupplier nanos, Set<ShardKey> silent) {
        return new EachShard(new OutageTimeLimit(nanos), silent);
    }

    /** Counts a shard that does not answer as a refused one, and tries all others, although each of them may cost a timeout. */
    static EachShard despiteOutages(LongSupplier nanos) {
        return new EachShard(new OutageTimeLimit(nanos, Integer.MAX_VALUE), new HashSet<>());
    }

    void attemptAll(List<ShardKey> shards, Consumer<ShardKey> action) {
        Set<ShardKey> last = Set.copyOf(silent);
        shards.stream().filter(shard -> !last.contains(shard)).forEach(shard -> attempt(shard, action));
        shards.stream().filter(last::contains).forEach(shard -> attempt(shard, action));
    }

    void attempt(ShardKey shard, Consumer<ShardKey> action) {
        try {
            if (outageLimit == null) {
                action.accept(shard);
            } else {
                outageLimit.call(shard, () -> call(shard, action));
            }
            done++;
        } catch (StoreRefusedException e) {
            refusals.add(e);
        } catch (StoreUnavailableException e) {
            if (outageLimit == null) {
                StoreUnavailableException outage = changed ? inPart(e) : e;
                refusals.forEach(outage::addSuppressed);
                throw outage;
            }
            refusals.add(e);
        }
    }

    /** Counts a failure that an action has met in another shard as a refusal. */
    void add(DelayQueueException failure) {
        refusals.add(failure);
    }

    /** Called by an action that has, or may have, changed something. */
    void changed() {
        changed = true;
    }

    private static StoreUnavailableException inPart(StoreUnavailableException e) {
        return new StoreUnavailableException(IN_PART + e.getMessage(), e);
    }

    /** The failure of a change of which a part was made. */
    static DelayQueueException inPart(DelayQueueException e) {
        return e instanceof StoreUnavailableException away
                ? inPart(away)
                : new StoreRefusedException(IN_PART + e.getMessage(), e);
    }

    private void call(ShardKey shard, Consumer<ShardKey> action) {
        silent.add(shard);
        try {
            action.accept(shard);
            silent.remove(shard);
        } catch (StoreRefusedException e) {
            silent.remove(shard);
            throw e;
        }
    }

    /** Text of the refusals, for results that contain them. */
    List<String> refused() {
        if (done == 0) {
            throwIfRefused();
        }
        return refusals.stream().map(e -> String.valueOf(e.getMessage())).toList();
    }

    /** For actions that cannot tell "nothing" from "not answered". */
    void throwIfSilent() {
        if (refusals.stream().anyMatch(StoreUnavailableException.class::isInstance)) {
            throwIfRefused();
        }
    }

    /** For actions whose result cannot show that it is incomplete. */
    void throwIfRefused() {
        if (!refusals.isEmpty()) {
            DelayQueueException first = changed ? inPart(refusals.get(0)) : refusals.get(0);
            refusals.stream().skip(1).forEach(first::addSuppressed);
            throw first;
        }
    }

    /**
     * The numbers of a topic.
     *
     * @throws StoreRefusedException if the store refuses all shards
     */
    static TopicStats stats(String topic, List<ShardKey> keys, QueueInspector store) {
        return new EachShard().countAll(topic, keys, store);
    }

    /** As {@link #stats}, and remembers which shards were refused. */
    TopicStats countAll(String topic, List<ShardKey> keys, QueueInspector store) {
        SortedMap<Integer, ShardStats> shards = count(keys, store);
        return new TopicStats(topic, shards, refused());
    }

    /**
     * The numbers of a topic, for sums that are compared with later ones.
     *
     * @throws StoreRefusedException if the store refuses any shard
     */
    static TopicStats completeStats(String topic, List<ShardKey> keys, QueueInspector store) {
        EachShard each = new EachShard();
        SortedMap<Integer, ShardStats> shards = each.count(keys, store);
        each.throwIfRefused();
        return new TopicStats(topic, shards, List.of());
    }

    private SortedMap<Integer, ShardStats> count(List<ShardKey> keys, QueueInspector store) {
        SortedMap<Integer, ShardStats> shards = new TreeMap<>();
        attemptAll(keys, key -> shards.put(key.shard(), store.stats(key)));
        return shards;
    }
}
