package io.easykit.cache.engine;

/** The parts of the batch reads of one store that single reads do not share. */
record BatchParts(BatchEntries entries, BatchLoads loads, BatchUnstored unstored) {

    static BatchParts of(GuardedStore store, Epochs epochs, ReadParts reads, LoadBulkhead limit, EngineContext engine) {
        BatchLoads loads = new BatchLoads(store, reads.loads(), limit, engine);
        BatchUnstored unstored = new BatchUnstored(reads.uncachedLoads(), loads, limit, engine);
        return new BatchParts(new BatchEntries(store, epochs), loads, unstored);
    }
}
