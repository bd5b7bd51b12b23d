package io.easykit.cache;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The epoch of each prefix of one cluster, as far as it is known here. Raising it makes every older entry of the prefix a
 * miss, whatever their number.
 *
 * <p>Before the first read it is learned: a node that has just started would take every value for a current one.
 */
final class Epochs {

    private final Supplier<Map<String, Long>> source;
    private final Map<String, Long> known = new ConcurrentHashMap<>();
    private volatile boolean learned;

    Epochs(Supplier<Map<String, Long>> source) {
        this.source = source;
    }

    /**
     * @throws StoreUnavailableException if nothing is known yet, and the store cannot be asked
     */
    long of(CacheKey<?> key) {
        if (!learned) {
            learn();
        }
        return known(key.spec().prefix());
    }

    /** The highest epoch that was ever heard of; 0 without one. */
    long known(String prefix) {
        return known.getOrDefault(prefix, 0L);
    }

    /**
     * Asks the store. Epochs only ever rise, also in the view of a node that hears of them late or twice.
     *
     * @return what the store said
     */
    Map<String, Long> learn() {
        Map<String, Long> told = source.get();
        told.forEach(this::learn);
        learned = true;
        return told;
    }

    void learn(String prefix, long epoch) {
        known.merge(prefix, epoch, Math::max);
    }

    /** The prefixes whose epochs a store has lost, with the data of its master perhaps. */
    List<String> lostBy(Map<String, Long> told) {
        return known.entrySet().stream()
                .filter(entry -> told.getOrDefault(entry.getKey(), 0L) < entry.getValue())
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Has them asked for before the next read. */
    void doubt() {
        learned = false;
    }
}
