package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.EntryCall;
import io.easykit.cache.store.EntryReply;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.Partitions;
import io.easykit.cache.store.Peeked;
import io.easykit.cache.store.PrefixEpochs;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.cache.store.StoredEntry;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store whose updates remove their keys from the {@link NearLevel}: before the command, and after it, also if it failed.
 * All updates of this node pass here, also late and repeated ones. An update of all entries of a prefix clears the level.
 */
final class NearStore implements EntryStore {

    private final EntryStore store;
    private final NearEntries near;

    NearStore(EntryStore store, NearEntries near) {
        this.store = store;
        this.near = near;
    }

    @Override
    public Snapshot read(CacheKey<?> key, long epoch) {
        return store.read(key, epoch);
    }

    @Override
    public StoredEntry inspect(CacheKey<?> key) {
        return store.inspect(key);
    }

    @Override
    public Fetched fetch(CacheKey<?> key, long epoch, boolean allowsStale) {
        return store.fetch(key, epoch, allowsStale);
    }

    @Override
    public @Nullable Peeked peek(CacheKey<?> key, long epoch, boolean allowsStale) {
        return store.peek(key, epoch, allowsStale);
    }

    @Override
    public @Nullable Peeked peekExpired(CacheKey<?> key, long epoch) {
        return store.peekExpired(key, epoch);
    }

    @Override
    public boolean store(CacheKey<?> key, LoadLease lease, Envelope value, Duration ttl) {
        return store.store(key, lease, value, ttl);
    }

    @Override
    public void releaseLoad(CacheKey<?> key, LoadLease lease) {
        store.releaseLoad(key, lease);
    }

    @Override
    public <T> List<EntryReply<T>> callAll(List<? extends EntryCall<T>> calls) {
        return store.callAll(calls);
    }

    @Override
    public boolean isAsynchronous() {
        return store.isAsynchronous();
    }

    @Override
    public <T> CompletionStage<T> callLater(EntryCall<T> call) {
        return store.callLater(call);
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
    public void removeUnreadable(CacheKey<?> key, Envelope unreadable) {
        store.removeUnreadable(key, unreadable);
    }

    @Override
    public Partitions partitions() {
        return store.partitions();
    }

    @Override
    public int epochHashes() {
        return store.epochHashes();
    }

    @Override
    public int epochCopies() {
        return store.epochCopies();
    }

    @Override
    public int epochHashOf(CacheKey<?> key) {
        return store.epochHashOf(key);
    }

    @Override
    public PrefixEpochs epochs(int hash) {
        return store.epochs(hash);
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

    @Override
    public boolean endExpiredClears(int hash, Map<String, Long> known) {
        return store.endExpiredClears(hash, known);
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
    public Duration takeWorkLease(String name, String owner, Duration duration) {
        return store.takeWorkLease(name, owner, duration);
    }

    @Override
    public void probe(Partitions partitions, int partition) {
        store.probe(partitions, partition);
    }

    @Override
    public @Nullable StoreUnavailableException checkWrites(Partitions partitions, int partition) {
        return store.checkWrites(partitions, partition);
    }

    @Override
    public EntryStore reopened() {
        EntryStore reopened = store.reopened();
        return reopened == store ? this : new NearStore(reopened, near);
    }

    @Override
    public void close() {
        store.close();
    }

    @Override
    public void onReconnect(Consumer<@Nullable SocketAddress> action) {
        store.onReconnect(action);
    }
}
