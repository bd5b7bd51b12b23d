package io.easykit.delayqueue.memory;

import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.admin.ShardStats.Pause;
import io.easykit.delayqueue.store.AlertReport;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The state of one shard. The store that holds it guards it by its lock. */
final class MemoryShard {

    final ShardKey key;
    final Map<String, MemoryMessage> live = new TreeMap<>();
    final Map<String, Reply> replies = new TreeMap<>();
    final Map<String, Long> counters = new TreeMap<>();
    final Map<String, Alert> alerts = new HashMap<>();

    /** Ids of the messages that hold ordering keys, by key. */
    final Map<String, String> held = new TreeMap<>();

    final Flow flow = new Flow();

    private final MemoryMessage.Places places = new MemoryMessage.Places();

    /** Of the last delivery. */
    long lastNumber;

    @Nullable Pause pause;

    MemoryShard(ShardKey key) {
        this.key = key;
    }

    /** The last claim of an owner, for the case that it is repeated. */
    record Reply(long request, List<Lease> leases) {}

    /** A claim to report that an alert was raised or resolved, or a raised one whose report is confirmed. */
    record Alert(String change, String token, long claimedUntil, long keptUntil) {

        boolean isRaised() {
            return change.equals("raised");
        }

        boolean isBy(AlertReport report) {
            return token.equals(report.token());
        }
    }

    /** The messages in a place, in the order of their time. */
    List<MemoryMessage> in(State place) {
        return List.copyOf(places.of(place));
    }

    /** The first messages in a place whose time has come. */
    List<MemoryMessage> arrived(State place, long now, int most) {
        return places.of(place).stream()
                .takeWhile(message -> message.at() <= now && !message.isParked())
                .limit(most)
                .toList();
    }

    /** Adds a message that waits. */
    void add(String id, Bytes frame, long due) {
        live.put(id, new MemoryMessage(id, frame, due, places));
    }

    void remove(MemoryMessage message) {
        live.remove(message.id);
        message.leave();
    }

    /** The earliest time in a place, in milliseconds since the epoch. Parked messages do not count. */
    @Nullable Long first(State place) {
        NavigableSet<MemoryMessage> messages = places.of(place);
        return messages.isEmpty() || messages.first().isParked()
                ? null
                : Long.valueOf(messages.first().at());
    }

    @Nullable Instant firstInstant(State place) {
        Long first = first(place);
        return first == null ? null : Instant.ofEpochMilli(first);
    }

    void count(String counter, long n) {
        if (n > 0) {
            counters.merge(counter, n, Long::sum);
        }
    }

    long counter(String name) {
        return counters.getOrDefault(name, 0L);
    }
}
