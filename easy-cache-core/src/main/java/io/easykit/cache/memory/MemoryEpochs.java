package io.easykit.cache.memory;

import io.easykit.cache.store.PrefixEpochs;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The epochs of the prefixes, and the prepared clearings. Times are in milliseconds of the store's clock. */
final class MemoryEpochs {

    /** The highest epoch: it has four bytes of a value, and the highest number is none. */
    private static final long HIGHEST = 0xFFFF_FFFEL;

    /** Longer than any value. */
    private static final long LIFE = TimeUnit.DAYS.toMillis(4015);

    private final Map<String, Long> epochs = new HashMap<>();
    private final Map<Clearing, Long> clearings = new LinkedHashMap<>();
    private long deadline;
    private long mark;

    private record Clearing(String token, String prefix) {}

    PrefixEpochs read(long now) {
        expire(now);
        Set<String> clearing = new HashSet<>();
        clearings.keySet().forEach(one -> clearing.add(one.prefix));
        return new PrefixEpochs(epochs, clearing, mark);
    }

    /** Returns an action that puts all back as it is now. */
    Runnable backup() {
        Map<String, Long> epochsThen = Map.copyOf(epochs);
        Map<Clearing, Long> clearingsThen = Map.copyOf(clearings);
        long markThen = mark;
        return () -> {
            epochs.clear();
            epochs.putAll(epochsThen);
            clearings.clear();
            clearings.putAll(clearingsThen);
            mark = markThen;
        };
    }

    long advanceMark(long now) {
        expire(now);
        deadline = now + LIFE;
        return ++mark;
    }

    /** @param known the prefixes, each with the highest epoch that the caller knows */
    Map<String, Long> raise(Map<String, Long> known, String token, long now) {
        expire(now);
        Map<String, Long> raised = new HashMap<>();
        known.forEach((prefix, floor) -> {
            raised.put(prefix, raise(prefix, floor, now));
            clearings.remove(new Clearing(token, prefix));
        });
        return raised;
    }

    /** The clock and the caller are floors: epochs that were lost do not begin again. */
    private long raise(String prefix, long known, long now) {
        long stored = Math.max(epochs.getOrDefault(prefix, 0L), epochs.getOrDefault("::every", 0L));
        long next = Math.max(now / 1000, Math.max(stored, known) + 1);
        epochs.put(prefix, Math.min(HIGHEST, next));
        deadline = now + LIFE;
        return Math.min(HIGHEST, next);
    }

    void prepareClear(Collection<String> prefixes, String token, long ends, long now) {
        expire(now);
        prefixes.forEach(prefix -> clearings.put(new Clearing(token, prefix), ends));
        deadline = now + LIFE;
    }

    boolean endExpiredClears(Map<String, Long> known, long now) {
        expire(now);
        Set<String> expired = new HashSet<>();
        clearings.forEach((clearing, ends) -> {
            if (known.containsKey(clearing.prefix) && ends <= now) {
                expired.add(clearing.prefix);
            }
        });
        expired.forEach(prefix -> {
            var unused = raise(prefix, known.getOrDefault(prefix, 0L), now);
        });
        return clearings.entrySet().removeIf(one -> expired.contains(one.getKey().prefix) && one.getValue() <= now);
    }

    void endClearings() {
        clearings.clear();
    }

    private void expire(long now) {
        if (deadline <= now) {
            epochs.clear();
            clearings.clear();
            mark = 0;
        }
    }
}
