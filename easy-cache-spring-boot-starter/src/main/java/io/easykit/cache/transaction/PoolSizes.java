package io.easykit.cache.transaction;

import io.easykit.cache.transaction.ConnectionPools.Pool;
import org.jspecify.annotations.Nullable;

/** Finds the sizes of connection pools. */
@FunctionalInterface
public interface PoolSizes {

    /**
     * Returns the pool of a {@code DataSource}.
     *
     * @return null if its size is unknown
     */
    @Nullable Pool of(Object dataSource);
}
