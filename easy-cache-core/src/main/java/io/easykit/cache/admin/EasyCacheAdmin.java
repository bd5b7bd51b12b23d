package io.easykit.cache.admin;

import io.easykit.cache.CacheKey;
import io.easykit.cache.UnknownClusterException;

/** Shows what the cache knows about one entry. Thread-safe. */
public interface EasyCacheAdmin {

    /**
     * Explains what the next reader of an entry gets, and why. Reads it once and changes nothing: an entry that is a miss
     * stays one, and nobody is elected to load. If Redis does not answer, the explanation says so and what this node knows.
     *
     * @throws UnknownClusterException if the key's cluster is not configured
     */
    EntryExplanation explain(CacheKey<?> key);
}
