package io.easykit.delayqueue.memory;

import io.easykit.delayqueue.store.ShardCount;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;

/** The shard counts of topics. */
final class DeclaredTopics {

    private final Map<String, Declared> declared = new HashMap<>();
    private final MemoryClock clock;

    /** @param grownAt when shards were last added, in microseconds */
    private record Declared(int home, int all, long grownAt) {}

    DeclaredTopics(MemoryClock clock) {
        this.clock = clock;
    }

    ShardCount declare(String topic, ShardCount count) {
        Declared kept = declared.computeIfAbsent(topic, name -> new Declared(count.home(), count.home(), 0));
        return kept.home == count.home() ? grow(topic, count.all()) : count(topic);
    }

    ShardCount count(String topic) {
        Declared kept = declared.get(topic);
        if (kept == null) {
            return ShardCount.NONE;
        }
        long micros = kept.all > kept.home ? Math.max(0, clock.micros() - kept.grownAt) : 0;
        return new ShardCount(kept.home, kept.all, Duration.of(micros, ChronoUnit.MICROS));
    }

    ShardCount grow(String topic, int all) {
        declared.computeIfPresent(
                topic, (name, kept) -> all <= kept.all ? kept : new Declared(kept.home, all, clock.micros()));
        return count(topic);
    }

    /** Declares the count anew, or forgets it if it is 0. */
    void redeclare(String topic, int count) {
        if (count == 0) {
            declared.remove(topic);
        } else {
            declared.put(topic, new Declared(count, count, 0));
        }
    }
}
