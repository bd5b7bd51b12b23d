package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.async.Futures;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
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
        CircuitBreaker breaker = availability.of(key);
        long sending = breaker.repetition().sending();
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
        CircuitBreaker breaker = availability.of(key);
        long sending = breaker.repetition().sending();
        Fetched fetched = guard(breaker, breaker::mayRead, () -> store.fetch(key, epoch, allowsStale));
        return suspect.include(breaker, sending, key) ? SuspectReplies.withoutValue(fetched) : fetched;
    }

    @Override
    public @Nullable Peeked peek(CacheKey<?> key, long epoch, boolean allowsStale) {
        CircuitBreaker breaker = availability.of(key);
        long sending = breaker.repetition().sending();
        Peeked peeked = guard(breaker, breaker::mayRead, () -> store.peek(key, epoch, allowsStale));
        return suspect.include(breaker, sending, key) ? null : peeked;
    }

    @Override
    public @Nullable Peeked peekExpired(CacheKey<?> key, long epoch) {
        CircuitBreaker breaker = availability.of(key);
        long sending = breaker.repetition().sending();
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
        return new GuardedCalls<T>(store, availability, suspect).callAll(calls);
    }

    @Override
    public boolean isAsynchronous() {
        return store.isAsynchronous();
    }

    /**
     * Sends a call, and goes on when its reply is there.
     *
     * @param executor reports the reply to the circuit breaker, and runs the next step
     * @param next receives the reply or the failure
     * @return ends with the next step; exceptionally if the executor rejects it, or it throws
     */
    <T, R> CompletableFuture<R> call(EntryCall<T> call, Executor executor, Function<EntryReply<T>, R> next) {
        CircuitBreaker breaker = availability.of(call.key());
        if (!breaker.mayRead()) {
            EntryReply<T> refused = EntryReply.failed(CircuitBreaker.markedUnavailable());
            return CompletableFuture.completedFuture(refused).thenApplyAsync(next, executor);
        }
        long sending = breaker.repetition().sending();
        return sent(call)
                .handleAsync(
                        (reply, failure) -> {
                            EntryReply<T> counted = counted(breaker, reply, failure);
                            return next.apply(
                                    suspect.include(breaker, sending, call.key())
                                            ? SuspectReplies.withoutValue(call, counted)
                                            : counted);
                        },
                        executor)
                .toCompletableFuture();
    }

    private <T> CompletionStage<T> sent(EntryCall<T> call) {
        try {
            return store.callLater(call);
        } catch (RuntimeException | Error notSent) {
            return CompletableFuture.failedStage(notSent);
        }
    }

    private static <T> EntryReply<T> counted(CircuitBreaker breaker, @Nullable T reply, @Nullable Throwable failure) {
        if (failure == null) {
            breaker.succeeded();
            return new EntryReply<>(reply, null);
        }
        Throwable cause = Futures.unwrapped(failure);
        if (cause instanceof StoreUnavailableException away) {
            GuardedCalls.count(breaker, away);
            return EntryReply.failed(away);
        }
        throw new CompletionException(cause);
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
