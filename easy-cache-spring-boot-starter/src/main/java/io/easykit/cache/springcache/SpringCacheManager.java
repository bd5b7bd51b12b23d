package io.easykit.cache.springcache;

import io.easykit.cache.EasyCache;
import io.easykit.cache.Transactions;
import io.easykit.cache.aop.SpringDeclarations;
import io.easykit.cache.async.Futures;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;

/** Spring's caches over an {@link EasyCache}: the name of a cache is the prefix of its keys. */
public final class SpringCacheManager implements CacheManager {

    private final AdapterParts parts;
    private final Map<String, SpringCache> caches = new ConcurrentHashMap<>();

    /**
     * Creates the caches of an application.
     *
     * @param futures runs asynchronous calls
     * @param nullValues whether null is cached
     */
    public SpringCacheManager(
            Supplier<EasyCache> cache,
            SpringDeclarations declarations,
            Supplier<Transactions> transactions,
            Futures futures,
            boolean nullValues) {
        this.parts = new AdapterParts(
                cache,
                declarations,
                futures,
                new UnpreparedUpdates(cache, transactions),
                new ThreadTickets(),
                nullValues);
    }

    @Override
    public Cache getCache(String name) {
        return caches.computeIfAbsent(name, some -> new SpringCache(some, parts));
    }

    @Override
    public Collection<String> getCacheNames() {
        return parts.declarations().names();
    }

    AdapterParts parts() {
        return parts;
    }
}
