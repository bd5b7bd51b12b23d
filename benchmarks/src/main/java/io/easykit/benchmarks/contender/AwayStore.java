package io.easykit.benchmarks.contender;

import io.easykit.cache.CacheKey;
import io.easykit.cache.StoreUnavailableException;

/** Refuses at once, with one exception for all: what is left is the way to the local level. */
final class AwayStore extends FixedStore {

    private final StoreUnavailableException away = new StoreUnavailableException("Away for the benchmark", true, null);

    @Override
    public Snapshot read(CacheKey<?> key, long epoch) {
        throw away;
    }
}
