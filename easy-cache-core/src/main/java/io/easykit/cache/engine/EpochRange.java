package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.Partitions;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Collectors;

/** The entries of a prefix in the range of one hash with epochs. */
record EpochRange(int hash, String prefix) {

    /** Stands for every prefix. No prefix begins with a colon. */
    static final String EVERY_PREFIX = "::every";

    /** Those of a key: one for each copy of its epochs. */
    static Set<EpochRange> of(CacheKey<?> key, EntryStore store) {
        Set<EpochRange> ranges = new LinkedHashSet<>();
        int first = store.epochHashOf(key);
        for (int hash = first; hash < first + store.epochCopies(); hash++) {
            ranges.add(new EpochRange(hash, key.spec().prefix()));
        }
        return ranges;
    }

    /** Those of the copies that readers of a key rely on: the one in its own partition, or all if there is none. */
    static Set<EpochRange> usedFor(CacheKey<?> key, EntryStore store, Partitions partitions) {
        Set<EpochRange> all = of(key, store);
        int own = partitions.of(key);
        Set<EpochRange> used = all.stream()
                .filter(range -> partitions.ofEpochs(range.hash) == own)
                .collect(Collectors.toSet());
        return used.isEmpty() ? all : used;
    }
}
