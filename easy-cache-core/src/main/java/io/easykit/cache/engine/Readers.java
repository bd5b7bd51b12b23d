package io.easykit.cache.engine;

import io.easykit.cache.DegradedOptions;

/**
 * The readers of one Redis, one for each kind of call. All of them join the same loads.
 *
 * @param later reads without a thread that waits
 * @param direct calls without a loader
 */
record Readers(FallbackReader single, AsyncReader later, BatchReader batch, DirectCalls direct) {

    /** Where values come from: the store, and the two levels of this JVM in front of it. */
    record Sources(GuardedStore store, Epochs epochs, Freshness freshness, NearEntries near, LocalEntries local) {}

    static Readers of(Sources from, LoadBulkhead limit, DegradedOptions.CpReads cpReads, EngineContext engine) {
        GuardedStore store = from.store();
        Freshness freshness = from.freshness();
        UncachedLoads uncached = new UncachedLoads(limit, engine);
        NearLevel near = new NearLevel(from.near(), freshness, from.epochs(), engine);
        ReadParts parts = ReadParts.of(store, from.epochs(), near, limit, uncached, engine);
        CacheDispatcher dispatcher = new CacheDispatcher(parts, near, freshness, limit, engine);
        FallbackReader.Sources fallback = new FallbackReader.Sources(store, freshness, from.local());
        FallbackReader single = new FallbackReader(dispatcher, fallback, uncached, cpReads, engine);
        BatchParts batch = BatchParts.of(store, from.epochs(), parts, limit, engine);
        BatchDispatcher batches = new BatchDispatcher(parts, batch, freshness, limit, engine);
        AsyncCall.Source source = new AsyncCall.Source(store, from.epochs(), engine.listener(), engine.ticker());
        AsyncReader.Shared shared = new AsyncReader.Shared(freshness, limit, engine.transactions());
        AsyncReader later = new AsyncReader(dispatcher, single, parts, near, source, shared);
        return new Readers(
                single,
                later,
                new BatchReader(batches, batch, single, freshness, from.local(), engine),
                new DirectCalls(store, parts.entries(), from.epochs(), freshness, from.local(), engine));
    }
}
