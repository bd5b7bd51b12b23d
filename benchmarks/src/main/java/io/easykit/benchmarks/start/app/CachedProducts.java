package io.easykit.benchmarks.start.app;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;

/** A bean that uses easy-cache. */
public class CachedProducts {

    @Cacheable(prefix = "product", keys = "#id")
    public String product(long id) {
        return "product " + id;
    }

    @UpdateCache(prefix = "product", keys = "#id")
    public void change(long id) {}
}
