package io.easykit.delayqueue.memory;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.admin.ShardStats.Pause;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** Reads the state of a store in memory, and changes it as an operator does by mistake. */
public final class StoreState {

    private StoreState() {}

    /** Empties the frame of a message. */
    public static void deleteBody(InMemoryQueueStore store, ShardKey key, String id) {
        synchronized (store) {
            Objects.requireNonNull(store.shard(key).live.get(id)).frame = Bytes.of(new byte[0]);
        }
    }

    /** As keys of counters that were deleted. */
    public static void resetCounters(InMemoryQueueStore store, ShardKey key) {
        synchronized (store) {
            store.shard(key).counters.clear();
        }
    }

    /** Changes the shard count; 0 deletes the settings. */
    public static void redeclare(InMemoryQueueStore store, String topic, int count) {
        store.redeclare(topic, count);
    }

    /** Loses topics and nodes, as a flush of all keys does. */
    public static void loseFleet(QueueBackend store) {
        ((InMemoryFleetStore) store.fleet()).lose();
    }

    /**
     * The shard as the store in Redis would keep it, to compare the two: by key without prefix, of texts or of maps of texts.
     */
    public static Map<String, Object> keyspace(InMemoryQueueStore store, ShardKey key) {
        synchronized (store) {
            return keyspace(store.shard(key));
        }
    }

    private static Map<String, Object> keyspace(MemoryShard shard) {
        Map<String, Object> keys = new TreeMap<>();
        shard.live.values().forEach(message -> add(keys, message));
        shard.held.forEach((key, id) -> field(keys, "held", key, id));
        shard.counters.forEach((counter, n) -> keys.put("count:" + counter, n.toString()));
        shard.replies.forEach((owner, reply) -> keys.put("claim:" + owner, text(reply)));
        if (shard.lastNumber > 0) {
            field(keys, "settings", "number", String.valueOf(shard.lastNumber));
        }
        String flow = shard.flow.text();
        if (flow != null) {
            keys.put("flow", flow);
        }
        Pause pause = shard.pause;
        if (pause != null) {
            field(keys, "settings", "paused", Objects.requireNonNull(pause.at()).toEpochMilli() + ":" + pause.by());
        }
        return keys;
    }

    private static void add(Map<String, Object> keys, MemoryMessage message) {
        String place = message.place() == State.IN_FLIGHT
                ? "inflight"
                : message.place().name().toLowerCase(Locale.ROOT);
        field(keys, place, message.id, message.score());
        if (message.isParked()) {
            field(keys, "parked:" + message.orderingKey(), message.id, String.valueOf(message.at()));
        }
        keys.put("m:" + message.id, new String(message.frame.array(), UTF_8));
        MemoryMessage.Past past = message.past;
        if (past != null) {
            field(
                    keys,
                    "state",
                    message.id,
                    past.number + ":" + past.failures + ":" + past.lost + ":" + past.releases + ":" + past.due + ":"
                            + past.owner);
        }
        if (message.first != null && message.last != null) {
            field(keys, "errors", "F" + message.id, text(message.first));
            field(keys, "errors", "L" + message.id, text(message.last));
        }
    }

    @SuppressWarnings("unchecked")
    private static void field(Map<String, Object> keys, String key, String field, String value) {
        ((Map<String, String>) keys.computeIfAbsent(key, k -> new TreeMap<String, String>())).put(field, value);
    }

    private static String text(ErrorNote note) {
        return note.at().toEpochMilli() + ":" + note.owner() + ":" + note.text();
    }

    private static String text(MemoryShard.Reply reply) {
        StringBuilder text = new StringBuilder()
                .append(reply.request())
                .append(' ')
                .append(reply.leases().get(0).number());
        reply.leases().forEach(lease -> text.append(' ').append(lease.id()));
        return text.toString();
    }
}
