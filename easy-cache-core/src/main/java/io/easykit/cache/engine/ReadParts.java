package io.easykit.cache.engine;

import io.easykit.cache.store.EntryStore;

/**
 * What readers of one store share: single reads and batch reads join the same loads.
 *
 * @param flights loads that are stored, by key
 */
record ReadParts(
        StoredEntries entries,
        StoredLoads loads,
        UncachedLoads uncachedLoads,
        SingleFlight flights,
        Refreshes refreshes,
        EntryPoller otherNodes) {

    static ReadParts of(
            EntryStore store,
            Epochs epochs,
            NearLevel near,
            LoadBulkhead limit,
            UncachedLoads uncachedLoads,
            EngineContext engine) {
        FailingRefreshes failing = new FailingRefreshes(engine.ticker());
        StoredEntries entries = new StoredEntries(store, epochs, engine);
        StoredLoads loads = new StoredLoads(store, near, epochs, limit, failing, engine);
        SingleFlight flights = new SingleFlight(engine.values(), engine.listener(), engine.ticker());
        Refreshes refreshes = new Refreshes(entries, loads, flights, failing, engine);
        return new ReadParts(entries, loads, uncachedLoads, flights, refreshes, new EntryPoller(entries, engine));
    }
}
