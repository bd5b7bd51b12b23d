package io.easykit.cache.store;

import io.easykit.cache.CacheKey;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

class InMemoryEntryStoreTests extends EntryStoreContract {

    private final AtomicLong millis = new AtomicLong();
    private final InMemoryEntryStore store = new InMemoryEntryStore(millis::get);

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
