package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.Target;
import io.easykit.delayqueue.support.LogText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes the cancels that a transaction has requested, after its commit. A failure is a warning: the transaction cannot fail any more. */
final class CancelsAfterCommit {

    private static final Logger log = LoggerFactory.getLogger(CancelsAfterCommit.class);

    private final QueueStore store;
    private final Topics topics;
    private final RepeatedLines lines;

    CancelsAfterCommit(QueueStore store, Topics topics, RepeatedLines lines) {
        this.store = store;
        this.topics = topics;
        this.lines = lines;
    }

    /** @param messages topic and id of each */
    void cancel(List<Map.Entry<String, String>> messages, OutageTimeLimit outageLimit) {
        messages.stream()
                .collect(Collectors.groupingBy(
                        Map.Entry::getKey,
                        LinkedHashMap::new,
                        Collectors.mapping(Map.Entry::getValue, Collectors.toList())))
                .forEach((topic, ids) -> cancel(topic, ids, outageLimit));
    }

    private void cancel(String topic, List<String> ids, OutageTimeLimit outageLimit) {
        List<String> failed = new ArrayList<>();
        RuntimeException[] failure = new RuntimeException[1];
        byExpectedShard(topic, ids).forEach((expected, all) -> Batches.of(all).forEach(some -> {
            try {
                outageLimit.call(expected, () -> cancelNow(topic, some));
            } catch (RuntimeException e) {
                failed.addAll(some);
                failure[0] = e;
            }
        }));
        if (failure[0] != null) {
            lines.warn(
                    log,
                    topic,
                    "{} messages of {} could not be cancelled after the commit and will be delivered: {}: {}",
                    failed.size(),
                    topic,
                    LogText.list(failed),
                    LogText.of(failure[0].toString()));
        }
    }

    /** Groups the ids by shard, with the shard count that is known without a call. */
    private Map<ShardKey, List<String>> byExpectedShard(String topic, List<String> ids) {
        return ids.stream().collect(Collectors.groupingBy(topics.expected(topic)::shardOf));
    }

    private void cancelNow(String topic, List<String> ids) {
        ids.stream()
                .collect(Collectors.groupingBy(topics.shardsToLookAt(topic, ids)::shardOf))
                .forEach((shard, some) -> store.cancel(
                        shard, some.stream().map(id -> new Target(id, null)).toList()));
    }
}
