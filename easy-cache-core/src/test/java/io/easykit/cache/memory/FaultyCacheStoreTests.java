package io.easykit.cache.memory;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.EntryStoreContract;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** Without faults it is the store in memory. */
class FaultyCacheStoreTests extends EntryStoreContract {

    private final AtomicLong millis = new AtomicLong();
    private final FaultyCacheStore store = new FaultyCacheStore(millis::get);

    @Override
    protected EntryStore store() {
        return store;
    }

    @Override
    protected void pass(Duration time) {
        millis.addAndGet(time.toMillis());
    }

    @Override
    protected boolean holds(CacheKey<?> key) {
        return !store.parts(key).isEmpty();
    }
}
