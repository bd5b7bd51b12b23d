package io.easykit.cache.autoconfigure;

import io.easykit.cache.autoconfigure.ConnectionPools.Pool;
import org.jspecify.annotations.Nullable;

/** How large connection pools are. */
@FunctionalInterface
interface PoolSizes {

    /**
     * The pool of a {@code DataSource}.
     *
     * @return null if its size is not known
     */
    @Nullable Pool of(Object dataSource);
}
