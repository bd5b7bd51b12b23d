package io.easykit.cache.engine;

import org.jspecify.annotations.Nullable;

/** Brings a reader to a value. The dispatcher does it; what bears the failures of its store is put around it. */
interface CacheReader {

    /** Returns the value, or throws the exception of the loader. */
    <V> @Nullable V fetch(ReadRequest<V> read) throws Throwable;
}
