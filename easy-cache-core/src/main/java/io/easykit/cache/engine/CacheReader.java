package io.easykit.cache.engine;

import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import org.jspecify.annotations.Nullable;

/** Reads one value. Implemented by {@link CacheDispatcher}; {@link FallbackReader} wraps it and handles store failures. */
interface CacheReader {

    /** Returns the value, or throws the exception of the loader. */
    <V> @Nullable V fetch(ReadRequest<V> read) throws Throwable;

    /**
     * Returns the value if the cache has a fresh one; else null. Waits for no other caller.
     *
     * @throws io.easykit.cache.store.StoreUnavailableException if the store is away
     */
    <V> @Nullable Decoded<V> freshHit(ReadRequest<V> read);
}
