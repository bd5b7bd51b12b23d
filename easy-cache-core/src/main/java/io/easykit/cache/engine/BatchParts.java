package io.easykit.cache.engine;

import io.easykit.cache.store.EntryStore;

/** What the batch reads of one store need besides the parts that they share with single reads. */
record BatchParts(BatchEntries entries, BatchLoads loads, BatchUnstored unstored) {

    static BatchParts of(EntryStore store, Epochs epochs, ReadParts reads, LoadBulkhead limit, EngineContext engine) {
        BatchLoads loads = new BatchLoads(store, reads.loads(), limit, engine);
        BatchUnstored unstored = new BatchUnstored(reads.uncachedLoads(), loads, limit, engine);
        return new BatchParts(new BatchEntries(store, epochs), loads, unstored);
    }
}
