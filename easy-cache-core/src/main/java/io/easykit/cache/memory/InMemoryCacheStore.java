package io.easykit.cache.memory;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.Partitions;
import io.easykit.cache.store.Peeked;
import io.easykit.cache.store.PrefixEpochs;
import io.easykit.cache.store.StoredEntry;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A store in memory, for tests. It behaves as the scripts of the store in Redis do: a test compares the two, call by call,
 * replies and state. Its entries end with the object, and only engines of this process can share them.
 *
 * <p>Each call is atomic: it holds the monitor of this object.
 */
public final class InMemoryCacheStore implements EntryStore {

    private final LongSupplier clock;
    private final Map<String, MemoryEntry> entries = new HashMap<>();
    private final Map<String, WorkLease> workLeases = new HashMap<>();
    private final MemoryEpochs epochs = new MemoryEpochs();
    private long lastToken;

    private record WorkLease(String owner, long ends, boolean partial) {}

    /** @param millis the store's clock, in milliseconds since the epoch */
    public InMemoryCacheStore(LongSupplier millis) {
        this.clock = millis;
    }

    /** Removes all entries, prepared clearings and work leases. The epochs stay, because nodes have read them. */
    public synchronized void clear() {
        entries.clear();
        workLeases.clear();
        epochs.endClearings();
    }

    /** The stored values of an entry, valid or not, by the fingerprints of their types. */
    public synchronized Map<String, Envelope> values(CacheKey<?> key) {
        MemoryEntry entry = find(key);
        return entry == null ? Map.of() : entry.envelopes();
    }

    /** Returns an action that puts all entries back as they are now: a replica takes over. Fencing tokens stay unique. */
    synchronized Runnable replica() {
        Map<String, MemoryEntry> copies = new HashMap<>();
        entries.forEach((name, entry) -> copies.put(name, new MemoryEntry(entry)));
        return () -> replaceEntries(copies);
    }

    /** Returns an action that puts entries and epochs back as they are now: the server restarts with an older snapshot. */
    synchronized Runnable backup() {
        Runnable entriesThen = replica();
        Runnable epochsThen = epochs.backup();
        return () -> {
            synchronized (this) {
                entriesThen.run();
                epochsThen.run();
            }
        };
    }

    private synchronized void replaceEntries(Map<String, MemoryEntry> by) {
        entries.clear();
        entries.putAll(by);
    }

    @Override
    public synchronized Snapshot read(CacheKey<?> key, long epoch) {
        MemoryEntry entry = find(key);
        return entry == null ? Snapshot.NOTHING : entry.snapshot(key.spec().fingerprint(), epoch, now());
    }

    @Override
    public synchronized StoredEntry inspect(CacheKey<?> key) {
        MemoryEntry entry = find(key);
        return entry == null
                ? new StoredEntry(
                        Instant.ofEpochMilli(now()), false, false, null, List.of(), null, null, null, List.of(), null)
                : entry.inspect(now());
    }

    @Override
    public synchronized Fetched fetch(CacheKey<?> key, long epoch, boolean allowsStale) {
        MemoryFetch fetch = new MemoryFetch(key.spec(), epoch, allowsStale, now(), () -> ++lastToken);
        return change(key, fetch::on);
    }

    @Override
    public synchronized @Nullable Peeked peek(CacheKey<?> key, long epoch, boolean allowsStale) {
        MemoryEntry entry = find(key);
        long window = allowsStale ? window(key) : 0;
        return entry == null ? null : entry.peek(key.spec().fingerprint(), epoch, window, 0, now());
    }

    @Override
    public synchronized @Nullable Peeked peekExpired(CacheKey<?> key, long epoch) {
        MemoryEntry entry = find(key);
        long past = key.spec().options().keptPastEnd().toMillis();
        return entry == null ? null : entry.peek(key.spec().fingerprint(), epoch, 0, past, now());
    }

    @Override
    public synchronized boolean store(CacheKey<?> key, LoadLease lease, Envelope value, Duration ttl) {
        long outlives = key.spec().options().keptPastEnd().toMillis();
        return change(
                key, entry -> entry.store(key.spec().fingerprint(), lease, value, ttl.toMillis(), outlives, now()));
    }

    @Override
    public synchronized void releaseLoad(CacheKey<?> key, LoadLease lease) {
        var unused = change(key, entry -> entry.release(lease));
    }

    @Override
    public synchronized void prepare(Collection<? extends CacheKey<?>> keys, String token, Duration lease) {
        for (CacheKey<?> key : keys) {
            var unused = change(key, entry -> entry.prepare(token, lease.toMillis(), window(key), now()));
        }
    }

    @Override
    public synchronized void invalidate(Collection<? extends CacheKey<?>> keys, String token) {
        keys.forEach(key -> invalidate(key, token, window(key)));
    }

    @Override
    public synchronized void invalidateNow(Collection<? extends CacheKey<?>> keys, String token) {
        keys.forEach(key -> invalidate(key, token, 0));
    }

    private void invalidate(CacheKey<?> key, String token, long window) {
        var unused = change(key, entry -> entry.invalidate(token, window, now()));
    }

    private static long window(CacheKey<?> key) {
        return key.spec().options().effectiveStaleWindow().toMillis();
    }

    @Override
    public synchronized void removeUnreadable(CacheKey<?> key, Envelope unreadable) {
        var unused = change(key, entry -> entry.removeUnreadable(key.spec().fingerprint(), unreadable));
    }

    @Override
    public synchronized PrefixEpochs epochs(int hash) {
        return epochs.read(now());
    }

    @Override
    public synchronized long advanceMark(int hash) {
        return epochs.advanceMark(now());
    }

    @Override
    public synchronized Map<String, Long> raiseEpochs(int hash, Map<String, Long> known, String token) {
        return epochs.raise(known, token, now());
    }

    @Override
    public synchronized void prepareClear(int hash, Collection<String> prefixes, String token, Duration lease) {
        epochs.prepareClear(prefixes, token, now() + lease.toMillis(), now());
    }

    @Override
    public synchronized boolean endExpiredClears(int hash, Map<String, Long> known) {
        return epochs.endExpiredClears(known, now());
    }

    @Override
    public synchronized Duration takeWorkLease(String name, String owner, Duration duration, boolean partial) {
        WorkLease held = workLeases.get(name);
        boolean yields = held != null && held.partial && !partial;
        if (held != null && !held.owner.equals(owner) && !yields) {
            long left = held.ends - now();
            if (left > 0 && left <= duration.toMillis()) {
                return Duration.ofMillis(left);
            }
        }
        workLeases.put(name, new WorkLease(owner, now() + duration.toMillis(), partial));
        return Duration.ZERO;
    }

    @Override
    public void probe(Partitions partitions, int partition) {
        // There is nothing that could refuse a call.
    }

    /** An entry exists from its first field to its last one. */
    private <T> T change(CacheKey<?> key, Function<MemoryEntry, T> change) {
        MemoryEntry found = find(key);
        MemoryEntry entry = found != null ? found : new MemoryEntry();
        T reply = change.apply(entry);
        if (entry.isEmpty()) {
            entries.remove(key.name());
        } else {
            entries.put(key.name(), entry);
        }
        return reply;
    }

    private @Nullable MemoryEntry find(CacheKey<?> key) {
        MemoryEntry entry = entries.get(key.name());
        if (entry != null && entry.isOver(now())) {
            entries.remove(key.name());
            return null;
        }
        return entry;
    }

    private long now() {
        return clock.getAsLong();
    }
}
