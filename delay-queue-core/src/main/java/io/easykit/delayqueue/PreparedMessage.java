package io.easykit.delayqueue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.IntStream;

/**
 * A message encoded for its shard.
 *
 * @param nonce tells this life of the id from others
 */
record PreparedMessage(ShardKey shard, QueueStore.NewMessage message, long nonce) {

    String id() {
        return message.id();
    }

    QueueStore.Target target() {
        return new QueueStore.Target(id(), Envelope.life(nonce));
    }

    /** Calls for each shard, and for no more than a call takes; the answers stand in the order of the messages. */
    static <R> List<R> byShard(
            List<PreparedMessage> messages, BiFunction<ShardKey, List<PreparedMessage>, List<R>> call) {
        Map<ShardKey, List<Integer>> positions = new LinkedHashMap<>();
        for (int i = 0; i < messages.size(); i++) {
            positions
                    .computeIfAbsent(messages.get(i).shard(), s -> new ArrayList<>())
                    .add(i);
        }
        Map<Integer, R> answers = new LinkedHashMap<>();
        positions.forEach((shard, all) -> {
            for (List<Integer> some : batches(all)) {
                List<R> replies =
                        call.apply(shard, some.stream().map(messages::get).toList());
                for (int i = 0; i < some.size(); i++) {
                    answers.put(some.get(i), replies.get(i));
                }
            }
        });
        return IntStream.range(0, messages.size()).mapToObj(answers::get).toList();
    }

    static <T> List<List<T>> batches(Collection<T> all) {
        List<T> list = List.copyOf(all);
        List<List<T>> batches = new ArrayList<>();
        for (int from = 0; from < list.size(); from += QueueStore.MAX_BATCH) {
            batches.add(list.subList(from, Math.min(list.size(), from + QueueStore.MAX_BATCH)));
        }
        return batches;
    }
}
