package io.easykit.cache.springcache;

import io.easykit.cache.CacheKey;
import io.easykit.cache.Consistency;
import io.easykit.cache.EasyCache;
import io.easykit.cache.InvalidCacheCallException;
import io.easykit.cache.Transactions;
import java.util.Collection;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Invalidations of data that may have changed already. Inside a transaction they belong to it as well, so they are prepared
 * before its commit. Outside of one a CP entry was not prepared in time: it is invalidated, and then the call fails.
 */
final class UnpreparedUpdates {

    private final Supplier<EasyCache> cache;
    private final Supplier<Transactions> transactions;

    UnpreparedUpdates(Supplier<EasyCache> cache, Supplier<Transactions> transactions) {
        this.cache = cache;
        this.transactions = transactions;
    }

    /** @throws InvalidCacheCallException if one is CP and was not prepared before the change; all are invalidated */
    void invalidate(Collection<? extends CacheKey<?>> keys) {
        if (keys.isEmpty()) {
            return;
        }
        boolean tooLate = !isBeforeCommit();
        cache.get().invalidate(keys);
        CacheKey<?> strong = tooLate ? strong(keys) : null;
        if (strong != null) {
            throw new InvalidCacheCallException(
                    strong.spec().prefix(),
                    "The update of " + strong
                            + " was not prepared before the data changed, as a CP cache needs it: other"
                            + " nodes may have returned the old value until now. It is invalidated. Put @CacheEvict with a"
                            + " key over the parameters on the method that changes the data, call the cache inside the"
                            + " transaction, or use EasyCache.update.",
                    null);
        }
    }

    private boolean isBeforeCommit() {
        Transactions present = transactions.get();
        return present.isActive() && present.lateCommit() == null;
    }

    private static @Nullable CacheKey<?> strong(Collection<? extends CacheKey<?>> keys) {
        for (CacheKey<?> key : keys) {
            if (key.spec().options().consistency() == Consistency.CP) {
                return key;
            }
        }
        return null;
    }
}
