package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import java.util.Collection;

/**
 * Keys that were updated together with others that are redelivered, and lie in another partition or another cluster. They
 * are redelivered along, as far as their stores answer.
 */
interface SiblingKeys {

    /** What cannot be prepared is skipped. */
    void prepare(Collection<? extends CacheKey<?>> keys, String token);

    /** What cannot be dropped is kept for later. */
    void invalidateNow(Collection<? extends CacheKey<?>> keys, String token);
}
