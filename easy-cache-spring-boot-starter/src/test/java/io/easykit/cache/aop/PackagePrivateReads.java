package io.easykit.cache.aop;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;

/** Classes of another package than their subclasses, such as those of a library. */
public final class PackagePrivateReads {

    private PackagePrivateReads() {}

    public abstract static class Read {
        @Cacheable(prefix = "price", keys = "#id")
        Integer find(long id) {
            return 0;
        }
    }

    public abstract static class Update {
        @UpdateCache(prefix = "user", keys = "#id")
        void update(long id) {}
    }

    public abstract static class Protected {
        @Cacheable(prefix = "price", keys = "#id")
        protected Integer find(long id) {
            return 0;
        }
    }
}
