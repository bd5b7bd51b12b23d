package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.QueueStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Splits a list into pieces of at most as many messages as one call of the store takes. */
final class Batches {

    private Batches() {}

    static <T> List<List<T>> of(Collection<T> all) {
        List<T> list = List.copyOf(all);
        List<List<T>> batches = new ArrayList<>();
        for (int from = 0; from < list.size(); from += QueueStore.MAX_BATCH) {
            batches.add(list.subList(from, Math.min(list.size(), from + QueueStore.MAX_BATCH)));
        }
        return batches;
    }
}
