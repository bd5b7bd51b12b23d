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
import org.jspecify.annotations.Nullable;

/** Makes all calls of another store. Subclasses change some of them. */
abstract class ForwardingStore implements EntryStore {

    final EntryStore store;

    ForwardingStore(EntryStore store) {
        this.store = store;
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
    public long advanceMark(int hash) {
        return store.advanceMark(hash);
    }

    @Override
    public boolean endExpiredClears(int hash, Map<String, Long> known) {
        return store.endExpiredClears(hash, known);
    }

    @Override
    public Duration takeWorkLease(String name, String owner, Duration duration, boolean partial) {
        return store.takeWorkLease(name, owner, duration, partial);
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
    public void close() {
        store.close();
    }

    @Override
    public void onReconnect(Consumer<@Nullable SocketAddress> action) {
        store.onReconnect(action);
    }

    @Override
    public void prepare(Collection<? extends CacheKey<?>> keys, String token, Duration lease) {
        store.prepare(keys, token, lease);
    }

    @Override
    public void invalidate(Collection<? extends CacheKey<?>> keys, String token) {
        store.invalidate(keys, token);
    }

    @Override
    public void invalidateNow(Collection<? extends CacheKey<?>> keys, String token) {
        store.invalidateNow(keys, token);
    }

    @Override
    public Map<CacheKey<?>, StoreUnavailableException> invalidateNow(Map<CacheKey<?>, String> tokens) {
        return store.invalidateNow(tokens);
    }

    @Override
    public Map<String, Long> raiseEpochs(int hash, Map<String, Long> known, String token) {
        return store.raiseEpochs(hash, known, token);
    }

    @Override
    public void prepareClear(int hash, Collection<String> prefixes, String token, Duration lease) {
        store.prepareClear(hash, prefixes, token, lease);
    }

    @Override
    public EntryStore reopened() {
        return store.reopened();
    }

    @Override
    public void onHint(Consumer<String> action) {
        store.onHint(action);
    }
}
