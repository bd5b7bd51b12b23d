package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A store whose updates remove their keys from the {@link NearLevel}: before the command, and after it, also if it failed.
 * All updates of this node pass here, also late and repeated ones. An update of all entries of a prefix clears the level.
 */
final class NearStore extends ForwardingStore {

    private final NearEntries near;

    NearStore(EntryStore store, NearEntries near) {
        super(store);
        this.near = near;
    }

    @Override
    public void prepare(Collection<? extends CacheKey<?>> keys, String token, Duration lease) {
        update(keys, () -> store.prepare(keys, token, lease));
    }

    @Override
    public void invalidate(Collection<? extends CacheKey<?>> keys, String token) {
        update(keys, () -> store.invalidate(keys, token));
    }

    @Override
    public void invalidateNow(Collection<? extends CacheKey<?>> keys, String token) {
        update(keys, () -> store.invalidateNow(keys, token));
    }

    @Override
    public Map<CacheKey<?>, StoreUnavailableException> invalidateNow(Map<CacheKey<?>, String> tokens) {
        return update(tokens.keySet(), () -> store.invalidateNow(tokens));
    }

    private void update(Collection<? extends CacheKey<?>> keys, Runnable command) {
        update(keys, () -> {
            command.run();
            return true;
        });
    }

    private <T> T update(Collection<? extends CacheKey<?>> keys, Supplier<T> command) {
        near.invalidate(keys);
        try {
            return command.get();
        } finally {
            near.invalidate(keys);
        }
    }

    @Override
    public Map<String, Long> raiseEpochs(int hash, Map<String, Long> known, String token) {
        return updateAll(() -> store.raiseEpochs(hash, known, token));
    }

    @Override
    public void prepareClear(int hash, Collection<String> prefixes, String token, Duration lease) {
        updateAll(() -> {
            store.prepareClear(hash, prefixes, token, lease);
            return true;
        });
    }

    private <T> T updateAll(Supplier<T> command) {
        near.clear();
        try {
            return command.get();
        } finally {
            near.clear();
        }
    }

    @Override
    public EntryStore reopened() {
        EntryStore reopened = store.reopened();
        return reopened == store ? this : new NearStore(reopened, near);
    }
}
