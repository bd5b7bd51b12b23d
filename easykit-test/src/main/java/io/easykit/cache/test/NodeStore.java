package io.easykit.cache.test;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.Partitions;
import io.easykit.cache.store.Peeked;
import io.easykit.cache.store.PrefixEpochs;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.cache.store.StoredEntry;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The store as nodes reach it: with the faults of a test. */
final class NodeStore implements EntryStore {

    private final EntryStore store;
    private final CacheFaults faults;

    NodeStore(EntryStore store, CacheFaults faults) {
        this.store = store;
        this.faults = faults;
    }

    private EntryStore reached() {
        faults.requireStore();
        return store;
    }

    @Override
    public Snapshot read(CacheKey<?> key, long epoch) {
        return reached().read(key, epoch);
    }

    @Override
    public StoredEntry inspect(CacheKey<?> key) {
        return reached().inspect(key);
    }

    @Override
    public Fetched fetch(CacheKey<?> key, long epoch, boolean allowsStale) {
        return reached().fetch(key, epoch, allowsStale);
    }

    @Override
    public @Nullable Peeked peek(CacheKey<?> key, long epoch, boolean allowsStale) {
        return reached().peek(key, epoch, allowsStale);
    }

    @Override
    public @Nullable Peeked peekExpired(CacheKey<?> key, long epoch) {
        return reached().peekExpired(key, epoch);
    }

    @Override
    public boolean store(CacheKey<?> key, LoadLease lease, Envelope value, Duration ttl) {
        boolean stored = reached().store(key, lease, value, ttl);
        faults.afterStore();
        return stored;
    }

    @Override
    public void releaseLoad(CacheKey<?> key, LoadLease lease) {
        reached().releaseLoad(key, lease);
    }

    @Override
    public void prepare(Collection<? extends CacheKey<?>> keys, String token, Duration lease) {
        reached().prepare(keys, token, lease);
    }

    @Override
    public void invalidate(Collection<? extends CacheKey<?>> keys, String token) {
        end(token, () -> store.invalidate(keys, token));
    }

    @Override
    public void invalidateNow(Collection<? extends CacheKey<?>> keys, String token) {
        end(token, () -> store.invalidateNow(keys, token));
    }

    /** Ends an update. */
    private void end(String token, Runnable invalidation) {
        faults.requireStore();
        if (!faults.isDead(token)) {
            faults.beforeInvalidation();
            invalidation.run();
            faults.afterInvalidation();
        }
    }

    @Override
    public void removeUnreadable(CacheKey<?> key, Envelope unreadable) {
        reached().removeUnreadable(key, unreadable);
    }

    @Override
    public PrefixEpochs epochs(int hash) {
        return reached().epochs(hash);
    }

    @Override
    public long advanceMark(int hash) {
        return reached().advanceMark(hash);
    }

    @Override
    public Map<String, Long> raiseEpochs(int hash, Map<String, Long> known, String token) {
        faults.requireStore();
        if (faults.isDead(token)) {
            return known;
        }
        faults.beforeInvalidation();
        Map<String, Long> raised = store.raiseEpochs(hash, known, token);
        faults.afterInvalidation();
        return raised;
    }

    @Override
    public void prepareClear(int hash, Collection<String> prefixes, String token, Duration lease) {
        reached().prepareClear(hash, prefixes, token, lease);
    }

    @Override
    public boolean endExpiredClears(int hash, Map<String, Long> known) {
        return reached().endExpiredClears(hash, known);
    }

    @Override
    public Duration takeWorkLease(String name, String owner, Duration duration, boolean partial) {
        return reached().takeWorkLease(name, owner, duration, partial);
    }

    @Override
    public void probe(Partitions partitions, int partition) {
        reached().probe(partitions, partition);
    }

    @Override
    public @Nullable StoreUnavailableException checkWrites(Partitions partitions, int partition) {
        return reached().checkWrites(partitions, partition);
    }
}
