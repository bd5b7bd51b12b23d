package io.easykit.cache.admin;

import io.easykit.cache.CacheKey;
import io.easykit.cache.UnknownClusterException;

/** Explains single entries. Thread-safe. */
public interface EasyCacheAdmin {

    /**
     * Explains the next read of an entry. Reads it once and changes nothing: an entry that is a miss
     * stays one, and no reader is elected to load. If Redis does not answer, the explanation covers this node only.
     *
     * @throws UnknownClusterException if the key's cluster is not configured
     */
    EntryExplanation explain(CacheKey<?> key);
}
