package io.easykit.cache.engine;

/**
 * What readers of one store share: single reads and batch reads join the same loads.
 *
 * @param flights loads that are stored, by key
 * @param failed keys whose loads are paused after a failure
 */
record ReadParts(
        StoredEntries entries,
        StoredLoads loads,
        UncachedLoads uncachedLoads,
        SingleFlight flights,
        Refreshes refreshes,
        EntryPoller otherNodes,
        FailedLoads failed) {

    static ReadParts of(
            GuardedStore store,
            Epochs epochs,
            NearLevel near,
            LoadBulkhead limit,
            UncachedLoads uncachedLoads,
            EngineContext engine) {
        FailedLoads failed = uncachedLoads.failed();
        LoadFailures failures = new LoadFailures(failed, new FailingRefreshes(engine.ticker()));
        StoredEntries entries = new StoredEntries(store, epochs, engine);
        StoredLoads loads = new StoredLoads(store, near, epochs, limit, failures, engine);
        SingleFlight flights = new SingleFlight(engine.values(), engine.listener(), engine.ticker());
        Refreshes refreshes = new Refreshes(entries, loads, flights, failures, engine);
        return new ReadParts(
                entries, loads, uncachedLoads, flights, refreshes, new EntryPoller(entries, engine), failed);
    }
}
