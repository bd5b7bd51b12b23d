package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.StoreUnavailableException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The epochs of all prefixes of one store, as far as this node has read them. Raising one makes every older entry of the
 * prefix a miss, for any number of entries.
 *
 * <p>A store may have several hashes with epochs ({@link EntryStore#epochHashOf}): each for a range of keys, and several for
 * one range, so that a key can rely on the one that is in its own partition. Every raise is written to all hashes of the
 * range.
 *
 * <p>They are read before the first entry: a node that has just started would take every value for a current one.
 */
final class Epochs {

    private final EntryStore store;
    private final ClusterAvailability availability;
    private final Runnable onRaised;
    private final int copies;

    /** For each hash the highest epochs that were ever read from it. */
    private final List<Map<String, Long>> known;

    /** 1 for each hash that was read. */
    private final AtomicIntegerArray learned;

    /** @param onRaised runs after a raised epoch became known */
    Epochs(EntryStore store, ClusterAvailability availability, Runnable onRaised) {
        this.store = store;
        this.availability = availability;
        this.onRaised = onRaised;
        this.copies = store.epochCopies();
        int hashes = store.epochHashes();
        this.learned = new AtomicIntegerArray(hashes);
        this.known = new ArrayList<>(hashes);
        for (int i = 0; i < hashes; i++) {
            known.add(new ConcurrentHashMap<>());
        }
    }

    /**
     * @throws StoreUnavailableException if no epoch was read yet, and the store does not answer
     */
    long of(CacheKey<?> key) {
        int first = store.epochHashOf(key);
        String prefix = key.spec().prefix();
        if (copies == 1) {
            refreshIfUnknown(first);
            return known(first, prefix);
        }
        refreshOneOf(first, key);
        return highest(first, prefix);
    }

    private long highest(int first, String prefix) {
        long highest = 0;
        for (int hash = first; hash < first + copies; hash++) {
            highest = Math.max(highest, known(hash, prefix));
        }
        return highest;
    }

    /** Whether no higher epoch of a key is known. Does not call the store. */
    boolean isCurrent(CacheKey<?> key, long epoch) {
        return highest(store.epochHashOf(key), key.spec().prefix()) <= epoch;
    }

    /** Learns those in the key's own partition. Where there is none, any of them does. */
    private void refreshOneOf(int first, CacheKey<?> key) {
        CircuitBreaker own = availability.of(key);
        boolean some = false;
        for (int hash = first; hash < first + copies; hash++) {
            if (availability.ofEpochs(hash) == own) {
                refreshIfUnknown(hash);
            }
            some |= learned.get(hash) == 1;
        }
        if (!some) {
            refreshIfUnknown(first);
        }
    }

    private void refreshIfUnknown(int hash) {
        if (learned.get(hash) == 0) {
            refresh(hash);
        }
    }

    /** The highest epoch that was ever read from a hash; 0 without one. */
    private long known(int hash, String prefix) {
        return known.get(hash).getOrDefault(prefix, 0L);
    }

    /**
     * Reads the epochs from the store. Epochs only ever rise, also in the view of a node that reads them late or twice.
     *
     * @return the epochs in the store
     */
    Map<String, Long> refresh(int hash) {
        Map<String, Long> stored = store.epochs(hash);
        refresh(hash, stored);
        learned.set(hash, 1);
        return stored;
    }

    private void refresh(int hash, Map<String, Long> stored) {
        boolean raised = false;
        for (Map.Entry<String, Long> one : stored.entrySet()) {
            raised |= known(hash, one.getKey()) < one.getValue();
            known.get(hash).merge(one.getKey(), one.getValue(), Math::max);
        }
        if (raised) {
            onRaised.run();
        }
    }

    /** Raises the epochs of some prefixes in one hash, above all that is known here. */
    void raise(int hash, Iterable<String> prefixes) {
        Map<String, Long> floors = new HashMap<>();
        for (String prefix : prefixes) {
            long highest = 0;
            for (Map<String, Long> any : known) {
                highest = Math.max(highest, any.getOrDefault(prefix, 0L));
            }
            floors.put(prefix, highest);
        }
        refresh(hash, store.raiseEpochs(hash, floors));
    }

    /** The prefixes whose epochs a store has lost, with the data of its master perhaps. */
    List<String> missingIn(int hash, Map<String, Long> stored) {
        return known.get(hash).entrySet().stream()
                .filter(entry -> stored.getOrDefault(entry.getKey(), 0L) < entry.getValue())
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Makes the next read refresh the epochs first. */
    void markUnknown() {
        for (int i = 0; i < learned.length(); i++) {
            learned.set(i, 0);
        }
    }
}
