package io.easykit.cache.autoconfigure;

import io.easykit.cache.autoconfigure.ConnectionPools.Pool;
import org.jspecify.annotations.Nullable;

/** Finds the sizes of connection pools. */
@FunctionalInterface
interface PoolSizes {

    /**
     * Returns the pool of a {@code DataSource}.
     *
     * @return null if its size is unknown
     */
    @Nullable Pool of(Object dataSource);
}
