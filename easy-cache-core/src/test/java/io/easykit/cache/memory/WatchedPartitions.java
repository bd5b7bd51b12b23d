package io.easykit.cache.memory;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.Partitions;

/** Runs an action before each look-up of a partition. */
record WatchedPartitions(Partitions partitions, Runnable action) implements Partitions {

    @Override
    public int count() {
        return partitions.count();
    }

    @Override
    public int of(CacheKey<?> key) {
        action.run();
        return partitions.of(key);
    }

    @Override
    public int ofEpochs(int hash) {
        action.run();
        return partitions.ofEpochs(hash);
    }

    @Override
    public int ofWorkLease(String name) {
        return partitions.ofWorkLease(name);
    }

    @Override
    public String name(int partition) {
        action.run();
        return partitions.name(partition);
    }
}
