package io.easykit.cache.memory;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.EntryCall;
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
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The store in memory behind a network that fails as a test wants: it loses, holds and counts calls, has partitions, and fails
 * over to replicas.
 */
public final class FaultyCacheStore extends FaultyCalls {

    /** Threads for asynchronous calls: one for each call, since a call may be held. */
    private static final Executor THREADS = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "store");
        thread.setDaemon(true);
        return thread;
    });

    /** Longer than any test moves its clock. */
    private static final Duration ENDLESS = Duration.ofDays(10_000);

    private final LongSupplier clock;
    private final InMemoryCacheStore entries;

    /** One store for each hash with epochs. */
    private final Map<Integer, InMemoryCacheStore> epochs = new ConcurrentHashMap<>();

    private final List<Consumer<@Nullable SocketAddress>> reconnectActions = new CopyOnWriteArrayList<>();
    private final AtomicInteger partitionCalls = new AtomicInteger();
    private volatile Partitions partitions = Partitions.ONE;
    private int epochHashes = 1;
    private int epochCopies = 1;
    private volatile boolean clockIsHidden;
    private final AtomicReference<@Nullable Error> unsendable = new AtomicReference<>();
    private volatile boolean asynchronous;

    /** @param millis the store's clock, in milliseconds since the epoch */
    public FaultyCacheStore(LongSupplier millis) {
        this.clock = millis;
        this.entries = new InMemoryCacheStore(millis);
    }

    // Partitions

    /** Has partitions from now on, each with epochs of its own. */
    public FaultyCacheStore inParts(int count) {
        partitions = new PartitionsById(count);
        epochHashes = count;
        return this;
    }

    /** Has partitions from now on, which share one range of keys: each has a copy of its epochs. */
    public FaultyCacheStore inPartsOfOneRange(int count) {
        epochCopies = count;
        return inParts(count);
    }

    /** Runs an action before each look-up of a partition by a node that learns the partitions from now on. */
    public void onLookUp(Runnable action) {
        partitions = new WatchedPartitions(partitions, action);
    }

    /** The partitions change; the epochs stay as they are. */
    public void repartition(int count) {
        partitions = new PartitionsById(count);
    }

    @Override
    public Partitions partitions() {
        partitionCalls.incrementAndGet();
        return partitions;
    }

    @Override
    int partitionOf(CacheKey<?> key) {
        return partitions.of(key);
    }

    /** Number of calls of {@link #partitions()}, which cost much in a cluster. */
    public int partitionCalls() {
        return partitionCalls.get();
    }

    @Override
    public int epochHashes() {
        return epochHashes;
    }

    @Override
    public int epochHashOf(CacheKey<?> key) {
        return epochHashes == epochCopies ? 0 : new PartitionsById(epochHashes).of(key);
    }

    @Override
    public int epochCopies() {
        return epochCopies;
    }

    // State

    /** From now on plain reads cannot find out whether a kept value has expired. */
    public void hideClock() {
        clockIsHidden = true;
    }

    /** Puts bytes in the place of a value. They do not expire. */
    public synchronized void spoil(CacheKey<?> key, byte[] bytes) {
        entries.invalidateNow(List.of(key), "");
        Fetched.Leased leased = (Fetched.Leased) entries.fetch(key, 0, false);
        boolean unused = entries.store(key, leased.lease(), Envelope.wrap(bytes, 0), ENDLESS);
    }

    /**
     * A replica with the entries as they are now.
     *
     * @return promotes the replica: it takes over without the later writes. The caller decides when nodes connect to it
     */
    public Runnable replica() {
        return entries.replica();
    }

    /**
     * A snapshot of entries and epochs as they are now.
     *
     * @return restarts the store with it. The caller decides when nodes connect to it
     */
    public Runnable snapshot() {
        List<Runnable> parts = new ArrayList<>(
                epochs.values().stream().map(InMemoryCacheStore::backup).toList());
        parts.add(entries.replica());
        return () -> parts.forEach(Runnable::run);
    }

    /** An empty master takes over. */
    public synchronized void loseEverything() {
        entries.clear();
        epochs.clear();
    }

    /** A master without epochs takes over. */
    public synchronized void loseEpochs() {
        epochs.clear();
    }

    /** The connection was closed and is restored. */
    public void reconnect() {
        reconnectActions.forEach(action -> action.accept(null));
    }

    @Override
    public void onReconnect(Consumer<@Nullable SocketAddress> action) {
        reconnectActions.add(action);
    }

    /** The parts of an entry; empty if there is no entry. */
    public Set<String> parts(CacheKey<?> key) {
        StoredEntry entry = entries.inspect(key);
        Set<String> parts = new LinkedHashSet<>();
        if (!entry.values().isEmpty()) {
            parts.add("value");
        }
        if (entry.leasedToken() != null) {
            parts.add("fill");
        }
        if (entry.staleUntil() != null) {
            parts.add("staleUntil");
        }
        if (!entry.updates().isEmpty()) {
            parts.add("intents");
        }
        return parts;
    }

    /** The epochs of the first hash. */
    public Map<String, Long> raised() {
        return epochsOf(0).epochs(0).raised();
    }

    /** Number of hashes with a raised epoch. */
    public int raisedHashes() {
        return (int) epochs.values().stream()
                .filter(hash -> !hash.epochs(0).raised().isEmpty())
                .count();
    }

    /** The prefixes with a clearing in any hash. */
    public Set<String> clearing() {
        return epochs.values().stream()
                .flatMap(hash -> hash.epochs(0).clearing().stream())
                .collect(Collectors.toSet());
    }

    private InMemoryCacheStore epochsOf(int hash) {
        return epochs.computeIfAbsent(hash, any -> new InMemoryCacheStore(clock));
    }

    // Calls

    /** From now on calls can be made without a thread that waits for the reply. */
    public FaultyCacheStore answeringLater() {
        asynchronous = true;
        return this;
    }

    /** The next call without a thread that waits is not sent. */
    public void failNextSend(Error error) {
        unsendable.set(error);
    }

    @Override
    public boolean isAsynchronous() {
        return asynchronous;
    }

    @Override
    public <T> CompletionStage<T> callLater(EntryCall<T> call) {
        Error error = unsendable.getAndSet(null);
        if (error != null) {
            throw error;
        }
        return CompletableFuture.supplyAsync(() -> call.on(this), THREADS);
    }

    @Override
    public Snapshot read(CacheKey<?> key, long epoch) {
        return callWith(Operation.READ, key, () -> {
            Snapshot seen = entries.read(key, epoch);
            return clockIsHidden && entries.inspect(key).keptUntil() != null
                    ? new Snapshot(
                            seen.value(), false, false, seen.invalidated(), seen.loading(), seen.updating(), null)
                    : seen;
        });
    }

    @Override
    public StoredEntry inspect(CacheKey<?> key) {
        return callWith(Operation.READ, key, () -> entries.inspect(key));
    }

    @Override
    public Fetched fetch(CacheKey<?> key, long epoch, boolean allowsStale) {
        return callWith(Operation.FETCH, key, () -> entries.fetch(key, epoch, allowsStale));
    }

    @Override
    public @Nullable Peeked peek(CacheKey<?> key, long epoch, boolean allowsStale) {
        return callWith(Operation.PEEK, key, () -> entries.peek(key, epoch, allowsStale));
    }

    @Override
    public @Nullable Peeked peekExpired(CacheKey<?> key, long epoch) {
        return callWith(Operation.PEEK, key, () -> entries.peekExpired(key, epoch));
    }

    @Override
    public boolean store(CacheKey<?> key, LoadLease lease, Envelope value, Duration ttl) {
        return callWith(Operation.STORE, key, () -> entries.store(key, lease, value, ttl));
    }

    @Override
    public void releaseLoad(CacheKey<?> key, LoadLease lease) {
        changeWith(Operation.RELEASE_LOAD, List.of(key), () -> entries.releaseLoad(key, lease));
    }

    @Override
    public void prepare(Collection<? extends CacheKey<?>> keys, String token, Duration lease) {
        changeWith(Operation.PREPARE, keys, () -> entries.prepare(keys, token, lease));
    }

    @Override
    public void invalidate(Collection<? extends CacheKey<?>> keys, String token) {
        changeWith(Operation.INVALIDATE, keys, () -> entries.invalidate(keys, token));
    }

    @Override
    public void invalidateNow(Collection<? extends CacheKey<?>> keys, String token) {
        changeWith(Operation.DROP, keys, () -> entries.invalidateNow(keys, token));
    }

    @Override
    public Map<CacheKey<?>, StoreUnavailableException> invalidateNow(Map<CacheKey<?>, String> tokens) {
        return call(Operation.DROP, () -> requirePartitions(Operation.DROP, tokens.keySet()), () -> {
            Map<CacheKey<?>, StoreUnavailableException> failed = new HashMap<>();
            tokens.forEach((key, token) -> {
                if (isRefused(key)) {
                    failed.put(key, noPermission());
                } else {
                    entries.invalidateNow(List.of(key), token);
                }
            });
            return failed;
        });
    }

    @Override
    public void removeUnreadable(CacheKey<?> key, Envelope unreadable) {
        changeWith(Operation.REMOVE_UNREADABLE, List.of(key), () -> entries.removeUnreadable(key, unreadable));
    }

    @Override
    public PrefixEpochs epochs(int hash) {
        return callEpochs(Operation.EPOCHS, hash, epochs -> epochs.epochs(hash));
    }

    @Override
    public long advanceMark(int hash) {
        return callEpochs(Operation.MARK, hash, epochs -> epochs.advanceMark(hash));
    }

    @Override
    public Map<String, Long> raiseEpochs(int hash, Map<String, Long> known, String token) {
        return callEpochs(Operation.RAISE_EPOCH, hash, epochs -> epochs.raiseEpochs(hash, known, token));
    }

    @Override
    public void prepareClear(int hash, Collection<String> prefixes, String token, Duration lease) {
        boolean unused = callEpochs(Operation.PREPARE_CLEAR, hash, epochs -> {
            epochs.prepareClear(hash, prefixes, token, lease);
            return true;
        });
    }

    @Override
    public boolean endExpiredClears(int hash, Map<String, Long> known) {
        return callEpochs(Operation.END_EXPIRED_CLEARS, hash, epochs -> epochs.endExpiredClears(hash, known));
    }

    @Override
    public Duration takeWorkLease(String name, String owner, Duration duration, boolean partial) {
        return call(Operation.LEASE, () -> {}, () -> entries.takeWorkLease(name, owner, duration, partial));
    }

    @Override
    public void probe(Partitions in, int partition) {
        boolean unused = callAt(Operation.PROBE, partition, () -> true);
    }

    private <T> T callEpochs(Operation operation, int hash, Function<InMemoryCacheStore, T> store) {
        return callAt(operation, partitions.ofEpochs(hash), () -> store.apply(epochsOf(hash)));
    }
}
