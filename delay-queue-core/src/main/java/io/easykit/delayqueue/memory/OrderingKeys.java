package io.easykit.delayqueue.memory;

import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.admin.StoppedKey;
import io.easykit.delayqueue.store.StoppedKeys;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Lets the messages of an ordering key run one after the other. */
final class OrderingKeys {

    private final Wakeups wakeups;

    OrderingKeys(Wakeups wakeups) {
        this.wakeups = wakeups;
    }

    /**
     * Of the due messages, those whose turn it is: of each key its holder, or else the first. The others are parked.
     *
     * @param most after so many turns the rest is left alone
     */
    static List<MemoryMessage> inTurn(MemoryShard shard, List<MemoryMessage> due, int most) {
        List<MemoryMessage> turns = new ArrayList<>();
        Map<String, String> first = new HashMap<>();
        for (MemoryMessage message : due) {
            if (turns.size() == most) {
                break;
            }
            String key = message.orderingKey();
            String before = key == null ? null : shard.held.getOrDefault(key, first.get(key));
            if (before != null && !before.equals(message.id)) {
                message.park(true);
                continue;
            }
            if (key != null) {
                first.put(key, message.id);
            }
            turns.add(message);
        }
        return turns;
    }

    static void hold(MemoryShard shard, MemoryMessage message) {
        String key = message.orderingKey();
        if (key != null) {
            shard.held.put(key, message.id);
        }
    }

    /** As {@link #exposeQuietly}, and notifies consumers. */
    void expose(MemoryShard shard, Collection<MemoryMessage> leaving) {
        Long earliestDue = shard.first(State.WAITING);
        wakeups.notify(shard.key, earliestDue, exposeQuietly(shard, leaving));
    }

    /**
     * Lets the first parked message of each key of these wait for its own due time, because they leave their place or get another
     * due time. Returns the due times.
     */
    static List<Long> exposeQuietly(MemoryShard shard, Collection<MemoryMessage> leaving) {
        Set<String> keys = new LinkedHashSet<>();
        leaving.stream()
                .map(MemoryMessage::orderingKey)
                .filter(Objects::nonNull)
                .forEach(keys::add);
        List<Long> arrivals = new ArrayList<>();
        for (String key : keys) {
            shard.in(State.WAITING).stream()
                    .filter(MemoryMessage::isParked)
                    .filter(message -> key.equals(message.orderingKey()) && !leaving.contains(message))
                    .findFirst()
                    .ifPresent(message -> {
                        message.park(false);
                        arrivals.add(message.at());
                    });
        }
        return arrivals;
    }

    /** Frees the key that this message holds. */
    static void free(MemoryShard shard, MemoryMessage message) {
        String key = message.orderingKey();
        if (key != null) {
            shard.held.remove(key, message.id);
        }
    }

    static long stopped(MemoryShard shard) {
        return shard.held.values().stream().filter(id -> isDead(shard, id)).count();
    }

    private static boolean isDead(MemoryShard shard, String id) {
        MemoryMessage message = shard.live.get(id);
        return message != null && message.place() == State.DEAD;
    }

    static StoppedKeys stoppedKeys(MemoryShard shard) {
        List<StoppedKey> keys = new ArrayList<>();
        shard.held.forEach((key, id) -> {
            if (isDead(shard, id)) {
                Instant diedAt = Instant.ofEpochMilli(
                        Objects.requireNonNull(shard.live.get(id)).at());
                keys.add(new StoppedKey(key, id, diedAt, parked(shard, key)));
            }
        });
        return new StoppedKeys("", keys);
    }

    private static long parked(MemoryShard shard, String key) {
        return shard.in(State.WAITING).stream()
                .filter(message -> message.isParked() && key.equals(message.orderingKey()))
                .count();
    }

    boolean free(MemoryShard shard, String key, String id) {
        if (!id.equals(shard.held.get(key)) || !isDead(shard, id)) {
            return false;
        }
        expose(shard, List.of(Objects.requireNonNull(shard.live.get(id))));
        shard.held.remove(key);
        return true;
    }
}
