package io.easykit.cache.engine;

import org.jspecify.annotations.Nullable;

/** Brings a reader to a value. The dispatcher does it; what bears the failures of its store is put around it. */
interface CacheReader {

    /** The value, or whatever the loader throws. */
    <V> @Nullable V fetch(ReadRequest<V> read) throws Throwable;
}
