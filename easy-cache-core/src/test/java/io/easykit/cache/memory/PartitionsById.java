package io.easykit.cache.memory;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.Partitions;

/** Partitions by the id of the key: the first part of its name. */
record PartitionsById(int count) implements Partitions {

    @Override
    public int of(CacheKey<?> key) {
        return Integer.parseInt(key.name().replaceFirst(".*::", "")) % count;
    }

    @Override
    public int ofEpochs(int hash) {
        return hash % count;
    }

    @Override
    public int ofWorkLease(String name) {
        return 0;
    }

    @Override
    public String name(int partition) {
        return "part " + partition;
    }
}
