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
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reports to the circuit breakers how calls went, and lets none through to a partition that is marked unavailable. A call
 * with keys of several partitions is made for each of them, and fails if one of them fails. Values that may lack an invalidation of
 * this node are taken out of the replies ({@link SuspectReplies}).
 */
final class GuardedStore implements EntryStore {

    private final EntryStore store;
    private final ClusterAvailability availability;
    private final RecentInvalidations recent;
    private final SuspectReplies suspect;

    GuardedStore(EntryStore store, ClusterAvailability availability, RecentInvalidations recent) {
        this.store = store;
        this.availability = availability;
        this.recent = recent;
        this.suspect = new SuspectReplies(recent);
    }

    /**
     * The epoch for a call. It is checked, and read from the store if need be, after the connection was noted: if the connection
     * changes between the check and the reply, the reply loses its value.
     */
    interface EpochOf {

        long of(CacheKey<?> key);
    }

    RecentInvalidations recent() {
        return recent;
    }

    ClusterAvailability availability() {
        return availability;
    }

    /** Whether readers of a key use the store. */
    boolean isAvailable(CacheKey<?> key) {
        return availability.of(key).mayRead();
    }

    @Override
    public Snapshot read(CacheKey<?> key, long epoch) {
        return read(key, any -> epoch);
    }

    /** Reads an entry. */
    Snapshot read(CacheKey<?> key, EpochOf epochs) {
        CircuitBreaker breaker = availability.of(key);
        long sending = breaker.repetition().sending();
        long epoch = epochs.of(key);
        Snapshot seen = guard(breaker, breaker::mayRead, () -> store.read(key, epoch));
        return suspect.include(breaker, sending, key) ? SuspectReplies.withoutValue(seen) : seen;
    }

    /** Whether the store may lack a recent invalidation of this node, so that replies about the entry lose their value. */
    boolean withholds(CacheKey<?> key) {
        CircuitBreaker breaker = availability.of(key);
        return suspect.include(breaker, breaker.repetition().sending(), key);
    }

    @Override
    public StoredEntry inspect(CacheKey<?> key) {
        CircuitBreaker breaker = availability.of(key);
        return guard(breaker, breaker::mayRead, () -> store.inspect(key));
    }

    @Override
    public Fetched fetch(CacheKey<?> key, long epoch, boolean allowsStale) {
        return fetch(key, any -> epoch, allowsStale);
    }

    Fetched fetch(CacheKey<?> key, EpochOf epochs, boolean allowsStale) {
        CircuitBreaker breaker = availability.of(key);
        long sending = breaker.repetition().sending();
        long epoch = epochs.of(key);
        Fetched fetched = guard(breaker, breaker::mayRead, () -> store.fetch(key, epoch, allowsStale));
        return suspect.include(breaker, sending, key) ? SuspectReplies.withoutValue(fetched) : fetched;
    }

    @Override
    public @Nullable Peeked peek(CacheKey<?> key, long epoch, boolean allowsStale) {
        return peek(key, any -> epoch, allowsStale);
    }

    @Nullable Peeked peek(CacheKey<?> key, EpochOf epochs, boolean allowsStale) {
        CircuitBreaker breaker = availability.of(key);
        long sending = breaker.repetition().sending();
        long epoch = epochs.of(key);
        Peeked peeked = guard(breaker, breaker::mayRead, () -> store.peek(key, epoch, allowsStale));
        return suspect.include(breaker, sending, key) ? null : peeked;
    }

    @Override
    public @Nullable Peeked peekExpired(CacheKey<?> key, long epoch) {
        return peekExpired(key, any -> epoch);
    }

    @Nullable Peeked peekExpired(CacheKey<?> key, EpochOf epochs) {
        CircuitBreaker breaker = availability.of(key);
        long sending = breaker.repetition().sending();
        long epoch = epochs.of(key);
        Peeked peeked = guard(breaker, breaker::mayRead, () -> store.peekExpired(key, epoch));
        return suspect.include(breaker, sending, key) ? null : peeked;
    }

    @Override
    public boolean store(CacheKey<?> key, LoadLease lease, Envelope value, Duration ttl) {
        CircuitBreaker breaker = availability.of(key);
        long sending = breaker.repetition().sending();
        boolean stored = guard(breaker, breaker::mayRead, () -> store.store(key, lease, value, ttl));
        return stored && !suspect.include(breaker, sending, key);
    }

    @Override
    public void releaseLoad(CacheKey<?> key, LoadLease lease) {
        CircuitBreaker breaker = availability.of(key);
        guard(breaker, breaker::mayRead, () -> store.releaseLoad(key, lease));
    }

    @Override
    public <T> List<EntryReply<T>> callAll(List<? extends EntryCall<T>> calls) {
        return this.<T>several().callAll(calls);
    }

    /** Several calls of entries. A reader creates them before it checks the epochs. */
    <T> GuardedCalls<T> several() {
        return new GuardedCalls<>(store, availability, suspect);
    }

    @Override
    public boolean isAsynchronous() {
        return store.isAsynchronous();
    }

    /** A call whose reply arrives later. */
    GuardedCall later(CacheKey<?> key) {
        return new GuardedCall(store, availability.of(key), suspect);
    }

    @Override
    public void prepare(Collection<? extends CacheKey<?>> keys, String token, Duration lease) {
        forEachPartition(keys, part -> store.prepare(part, token, lease));
    }

    @Override
    public void invalidate(Collection<? extends CacheKey<?>> keys, String token) {
        forEachPartition(keys, part -> store.invalidate(part, token));
    }

    @Override
    public void invalidateNow(Collection<? extends CacheKey<?>> keys, String token) {
        forEachPartition(keys, part -> store.invalidateNow(part, token));
    }

    @Override
    public Map<CacheKey<?>, StoreUnavailableException> invalidateNow(Map<CacheKey<?>, String> tokens) {
        Map<CacheKey<?>, StoreUnavailableException> failed = new LinkedHashMap<>();
        forEachPartition(tokens.keySet(), part -> {
            Map<CacheKey<?>, String> some = new LinkedHashMap<>();
            part.forEach(key -> some.put(key, tokens.getOrDefault(key, "")));
            failed.putAll(store.invalidateNow(some));
        });
        failed.values().stream().findFirst().ifPresent(availability::singleFailed);
        return failed;
    }

    @Override
    public void removeUnreadable(CacheKey<?> key, Envelope unreadable) {
        CircuitBreaker breaker = availability.of(key);
        guard(breaker, breaker::mayRead, () -> store.removeUnreadable(key, unreadable));
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
        CircuitBreaker breaker = availability.ofEpochs(hash);
        return guard(breaker, breaker::mayWrite, () -> store.epochs(hash));
    }

    @Override
    public long advanceMark(int hash) {
        CircuitBreaker breaker = availability.ofEpochs(hash);
        return guard(breaker, breaker::mayWrite, () -> store.advanceMark(hash));
    }

    @Override
    public Map<String, Long> raiseEpochs(int hash, Map<String, Long> known, String token) {
        CircuitBreaker breaker = availability.ofEpochs(hash);
        return guard(breaker, breaker::mayWrite, () -> store.raiseEpochs(hash, known, token));
    }

    @Override
    public void prepareClear(int hash, Collection<String> prefixes, String token, Duration lease) {
        CircuitBreaker breaker = availability.ofEpochs(hash);
        guard(breaker, breaker::mayWrite, () -> store.prepareClear(hash, prefixes, token, lease));
    }

    @Override
    public boolean endExpiredClears(int hash, Map<String, Long> known) {
        CircuitBreaker breaker = availability.ofEpochs(hash);
        return guard(breaker, breaker::mayWrite, () -> store.endExpiredClears(hash, known));
    }

    @Override
    public Duration takeWorkLease(String name, String owner, Duration duration, boolean partial) {
        CircuitBreaker breaker = availability.ofWorkLease(name);
        return guard(breaker, breaker::mayRead, () -> store.takeWorkLease(name, owner, duration, partial));
    }

    /** A probe is there to see whether an unavailable partition answers, so it always goes through. */
    @Override
    public void probe(Partitions partitions, int partition) {
        store.probe(partitions, partition);
    }

    @Override
    public @Nullable StoreUnavailableException checkWrites(Partitions partitions, int partition) {
        CircuitBreaker breaker = availability.of(partitions, partition);
        return guard(breaker, breaker::mayWrite, () -> store.checkWrites(partitions, partition));
    }

    @Override
    public void onReconnect(Consumer<@Nullable SocketAddress> action) {
        store.onReconnect(action);
    }

    /** The keys of each partition. */
    Map<CircuitBreaker, List<CacheKey<?>>> byPartition(Collection<? extends CacheKey<?>> keys) {
        Map<CircuitBreaker, List<CacheKey<?>>> parts = new LinkedHashMap<>();
        for (CacheKey<?> key : keys) {
            parts.computeIfAbsent(availability.of(key), any -> new ArrayList<>())
                    .add(key);
        }
        return parts;
    }

    private void forEachPartition(
            Collection<? extends CacheKey<?>> keys, Consumer<Collection<? extends CacheKey<?>>> call) {
        StoreUnavailableException first = null;
        for (Map.Entry<CircuitBreaker, List<CacheKey<?>>> part :
                byPartition(keys).entrySet()) {
            CircuitBreaker breaker = part.getKey();
            try {
                guard(breaker, breaker::mayWrite, () -> call.accept(part.getValue()));
            } catch (StoreUnavailableException away) {
                first = first == null ? away : first;
            }
        }
        if (first != null) {
            throw first;
        }
    }

    private static void guard(CircuitBreaker breaker, BooleanSupplier allowed, Runnable call) {
        guard(breaker, allowed, () -> {
            call.run();
            return true;
        });
    }

    private static <T extends @Nullable Object> T guard(
            CircuitBreaker breaker, BooleanSupplier allowed, Supplier<T> call) {
        if (!allowed.getAsBoolean()) {
            throw CircuitBreaker.markedUnavailable();
        }
        try {
            T result = call.get();
            breaker.succeeded();
            return result;
        } catch (StoreUnavailableException failure) {
            GuardedCalls.count(breaker, failure);
            throw failure;
        }
    }
}
