package io.easykit.cache.aop;

import io.easykit.cache.aop.OperationFactory.CacheName;
import java.util.List;

/**
 * What one {@code @UpdateCache} declares.
 *
 * @param keys the parts of its key, without placeholders; empty if it clears the cache
 * @param isKnownAfterMethod whether its key or condition is over the result of the method
 */
record DeclaredUpdate(CachedMethod where, CacheName name, List<String> keys, boolean isKnownAfterMethod) {

    /** Whether it clears the cache. */
    boolean isOfAll() {
        return keys.isEmpty();
    }
}
