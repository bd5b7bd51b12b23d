package io.easykit.cache;

import java.time.Duration;

class InMemoryEntryStoreTests extends EntryStoreContract {

    private final ManualClock clock = new ManualClock();
    private final InMemoryEntryStore store = new InMemoryEntryStore(clock::millis);

    @Override
    protected EntryStore store() {
        return store;
    }

    @Override
    protected void pass(Duration time) {
        clock.advance(time);
    }

    @Override
    protected boolean holds(CacheKey<?> key) {
        return !store.parts(key).isEmpty();
    }
}
