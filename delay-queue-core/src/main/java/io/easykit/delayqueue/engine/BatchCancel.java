package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.BatchCancelException;
import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.Target;
import io.easykit.delayqueue.support.NameRules;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Cancels many messages of a topic, a shard after the other. The failure of one call does not concern the others. */
final class BatchCancel {

    private final QueueStore store;
    private final Topics topics;
    private final OutboxSends outbox;
    private final LongSupplier nanos;

    /** @param nanos a clock that only moves forward */
    BatchCancel(QueueStore store, Topics topics, OutboxSends outbox, LongSupplier nanos) {
        this.store = store;
        this.topics = topics;
        this.outbox = outbox;
        this.nanos = nanos;
    }

    /**
     * Returns the outcomes by id, in the order of the ids.
     *
     * @throws BatchCancelException if some have no outcome
     * @throws DelayQueueException if all are refused
     */
    Map<String, ChangeOutcome> cancel(String topic, Collection<String> ids) {
        Set<String> all = wellFormed(NameRules.requireTopic(topic), ids);
        if (all.isEmpty()) {
            return Map.of();
        }
        TopicShards shards = shards(topic, all);
        Map<String, ChangeOutcome> known = new HashMap<>();
        all.stream().filter(id -> outbox.withdraw(topic, id)).forEach(id -> known.put(id, ChangeOutcome.APPLIED));
        Map<ShardKey, List<String>> byShard = all.stream()
                .filter(id -> !known.containsKey(id))
                .collect(Collectors.groupingBy(shards::shardOf, LinkedHashMap::new, Collectors.toList()));
        DelayQueueException failure = cancel(byShard, known);
        Map<String, ChangeOutcome> outcomes = new LinkedHashMap<>();
        all.stream().filter(known::containsKey).forEach(id -> outcomes.put(id, known.get(id)));
        boolean isRefused = failure != null && !(failure instanceof StoreUnavailableException);
        if (isRefused && known.isEmpty()) {
            throw failure;
        }
        if (failure != null) {
            List<String> unknown =
                    all.stream().filter(id -> !known.containsKey(id)).toList();
            throw new BatchCancelException(topic, outcomes, unknown, failure);
        }
        return outcomes;
    }

    private TopicShards shards(String topic, Set<String> all) {
        try {
            return topics.shardsToLookAt(topic, all);
        } catch (StoreUnavailableException e) {
            throw new BatchCancelException(topic, Map.of(), List.copyOf(all), e);
        }
    }

    private static Set<String> wellFormed(String topic, Collection<String> ids) {
        Objects.requireNonNull(ids, "cancelAll of topic '" + topic + "' with null: give the ids of the messages.");
        Set<String> all = new LinkedHashSet<>();
        ids.forEach(id -> all.add(NameRules.requireId(NameRules.requireWellFormed(id))));
        return all;
    }

    /** Adds the known outcomes, and returns the last failure; null if there was none. */
    private @Nullable DelayQueueException cancel(
            Map<ShardKey, List<String>> byShard, Map<String, ChangeOutcome> known) {
        OutageTimeLimit outageLimit = new OutageTimeLimit(nanos);
        DelayQueueException[] failure = new DelayQueueException[1];
        byShard.forEach((shard, ids) -> Batches.of(ids).forEach(some -> {
            try {
                outageLimit.call(shard, () -> cancel(shard, some, known));
            } catch (DelayQueueException e) {
                failure[0] = e;
            }
        }));
        return failure[0];
    }

    private void cancel(ShardKey shard, List<String> ids, Map<String, ChangeOutcome> known) {
        List<ChangeOutcome> outcomes =
                store.cancel(shard, ids.stream().map(id -> new Target(id, null)).toList());
        for (int i = 0; i < ids.size(); i++) {
            known.put(ids.get(i), outcomes.get(i));
        }
    }
}
