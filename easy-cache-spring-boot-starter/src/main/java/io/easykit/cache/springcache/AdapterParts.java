package io.easykit.cache.springcache;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.aop.SpringDeclarations;
import io.easykit.cache.async.Futures;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Parts that all caches of one {@link SpringCacheManager} share.
 *
 * @param nullValues whether null is cached
 */
record AdapterParts(
        Supplier<EasyCache> easyCache,
        SpringDeclarations declarations,
        Futures futures,
        UnpreparedUpdates updates,
        ThreadTickets tickets,
        boolean nullValues) {

    EasyCache cache() {
        return easyCache.get();
    }

    CacheSpec<Object> spec(String name) {
        return declarations.specOf(name);
    }

    boolean mayStore(@Nullable Object value) {
        return nullValues || value != null;
    }
}
