package io.easykit.cache.store;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The protocol on a map, with a clock that a test moves, and with the faults of a line. */
public final class InMemoryEntryStore implements EntryStore {

    public enum Operation {
        READ,
        FETCH,
        PEEK,
        STORE,
        RELEASE_LOAD,
        PREPARE,
        INVALIDATE,
        REMOVE_UNREADABLE,
        DROP,
        EPOCHS,
        RAISE_EPOCH,
        PREPARE_CLEAR,
        END_EXPIRED_CLEARS,
        LEASE,
        PROBE
    }

    public enum Fault {
        /** The request never reaches the store. */
        LOST_REQUEST,
        /** The store executes the request, but the reply never reaches the caller. */
        LOST_REPLY
    }

    /** Partitions by the id of the key: the first part of its name. */
    public record ById(int count) implements Partitions {

        @Override
        public int of(CacheKey<?> key) {
            return Integer.parseInt(key.name().replaceFirst(".*::", "")) % count;
        }

        @Override
        public int ofEpochs(int hash) {
            return hash % count;
        }

        @Override
        public int ofWorkLease(String name) {
            return 0;
        }

        @Override
        public String name(int partition) {
            return "part " + partition;
        }
    }

    /** An operation that is held before it happens. */
    public static final class Held {

        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);

        public void awaitReached() throws InterruptedException {
            if (!reached.await(10, TimeUnit.SECONDS)) {
                throw new AssertionError("Nobody came");
            }
        }

        public void release() {
            released.countDown();
        }

        private void hold() {
            reached.countDown();
            boolean interrupted = false;
            while (released.getCount() > 0) {
                try {
                    released.await();
                } catch (InterruptedException later) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Threads of the store: one for each call, since a call may be held. */
    private static final Executor LATER = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "store");
        thread.setDaemon(true);
        return thread;
    });

    private final LongSupplier clock;
    private final Map<String, Entry> entries = new HashMap<>();
    private final Map<Operation, Fault> next = new ConcurrentHashMap<>();
    private final Map<Operation, Fault> always = new ConcurrentHashMap<>();
    private final Map<Operation, Runnable> surprises = new ConcurrentHashMap<>();
    private final Map<Operation, Runnable> afterwards = new ConcurrentHashMap<>();
    private final Map<Operation, Held> held = new ConcurrentHashMap<>();
    private final Map<Operation, AtomicInteger> counts = new EnumMap<>(Operation.class);
    public final Map<String, Long> epochs = new HashMap<>();
    private final Map<Integer, Map<String, Long>> otherEpochs = new HashMap<>();
    private final Map<Integer, Set<Clearing>> clearings = new HashMap<>();
    private final Set<Integer> away = ConcurrentHashMap.newKeySet();
    private final Set<String> refused = ConcurrentHashMap.newKeySet();
    private volatile Partitions partitions = Partitions.ONE;
    private int epochHashes = 1;
    private int epochCopies = 1;
    private final Map<String, Lease> leases = new HashMap<>();
    private final List<Consumer<@Nullable SocketAddress>> reconnectActions = new CopyOnWriteArrayList<>();
    private volatile boolean clockIsHidden;
    private volatile boolean asynchronous;
    private long lastToken;

    public InMemoryEntryStore(LongSupplier clock) {
        this.clock = clock;
        for (Operation operation : Operation.values()) {
            counts.put(operation, new AtomicInteger());
        }
    }

    /** Falls into parts from now on, each with epochs of its own. */
    public InMemoryEntryStore inParts(int count) {
        partitions = new ById(count);
        epochHashes = count;
        return this;
    }

    /** Falls into parts from now on, which share one range: each has a copy of its epochs. */
    public InMemoryEntryStore inPartsOfOneRange(int count) {
        epochCopies = count;
        return inParts(count);
    }

    /** The partitions change; the epochs stay as they are. */
    public void repartition(int count) {
        partitions = new ById(count);
    }

    /** Requests to a partition are lost until {@link #back(int)}. */
    public void away(int partition) {
        away.add(partition);
    }

    public void back(int partition) {
        away.remove(partition);
    }

    /** From now on calls can be made without a thread that waits for the reply. */
    public InMemoryEntryStore answeringLater() {
        asynchronous = true;
        return this;
    }

    @Override
    public boolean isAsynchronous() {
        return asynchronous;
    }

    @Override
    public <T> CompletionStage<T> callLater(EntryCall<T> call) {
        CompletableFuture<T> reply = new CompletableFuture<>();
        LATER.execute(() -> reply(call, reply));
        return reply;
    }

    private <T> void reply(EntryCall<T> call, CompletableFuture<T> reply) {
        try {
            reply.complete(call.on(this));
        } catch (RuntimeException failure) {
            reply.completeExceptionally(failure);
        }
    }

    @Override
    public Partitions partitions() {
        return partitions;
    }

    @Override
    public int epochHashes() {
        return epochHashes;
    }

    @Override
    public int epochHashOf(CacheKey<?> key) {
        return epochHashes == epochCopies ? 0 : new ById(epochHashes).of(key);
    }

    @Override
    public int epochCopies() {
        return epochCopies;
    }

    private void requireHere(Operation operation, int partition) {
        if (away.contains(partition)) {
            counts.get(operation).incrementAndGet();
            throw new StoreUnavailableException(operation + " got lost", true, null);
        }
    }

    private void requireHere(Operation operation, Collection<? extends CacheKey<?>> keys) {
        if (keys.stream().anyMatch(key -> refused.contains(key.name()))) {
            counts.get(operation).incrementAndGet();
            throw noPermission();
        }
        requirePartitions(operation, keys);
    }

    private void requirePartitions(Operation operation, Collection<? extends CacheKey<?>> keys) {
        keys.forEach(key -> requireHere(operation, away.isEmpty() ? 0 : partitions.of(key)));
    }

    private static StoreUnavailableException noPermission() {
        return new StoreUnavailableException("Redis answered: NOPERM", false, null);
    }

    /** From now on calls with this key fail as a whole. The failure does not count against the server. */
    public void refuse(CacheKey<?> key) {
        refused.add(key.name());
    }

    /** From now on calls with this key succeed again. */
    public void allow(CacheKey<?> key) {
        refused.remove(key.name());
    }

    public void failNext(Operation operation, Fault fault) {
        next.put(operation, fault);
    }

    public void fail(Operation operation, Fault fault) {
        always.put(operation, fault);
    }

    /** Does something before the next operation of this kind. */
    public void onNext(Operation operation, Runnable surprise) {
        surprises.put(operation, surprise);
    }

    /** Does something after the next operation of this kind, before its caller has the reply. */
    public void afterNext(Operation operation, Runnable surprise) {
        afterwards.put(operation, surprise);
    }

    /** Plain reads do not know from now on whether a kept value has expired. */
    public void hideClock() {
        clockIsHidden = true;
    }

    /** Puts the entry back as it is now: a replica that has not received the writes after this moment. */
    public synchronized Runnable restoring(CacheKey<?> key) {
        Entry entry = entries.get(key.name());
        Entry copy = new Entry();
        copy.values.putAll(entry.values);
        copy.keptUntil = entry.keptUntil;
        copy.gone = entry.gone;
        return () -> {
            synchronized (this) {
                entries.put(key.name(), copy);
            }
        };
    }

    /** Every request is lost until {@link #back()}. */
    public void away() {
        for (Operation operation : Operation.values()) {
            fail(operation, Fault.LOST_REQUEST);
        }
    }

    public void back() {
        always.clear();
        next.clear();
    }

    /** Holds the next operation of this kind. */
    public Held hold(Operation operation) {
        Held hold = new Held();
        held.put(operation, hold);
        return hold;
    }

    /** How many of all were tried. */
    public int count() {
        return counts.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    /** How many of these were tried. */
    public int count(Operation operation) {
        return counts.get(operation).get();
    }

    /** Puts bytes where the value would be, with no end. */
    public synchronized void spoil(CacheKey<?> key, byte[] bytes) {
        Entry entry = new Entry();
        entry.values.put(key.spec().fingerprint(), new Value(Envelope.wrap(bytes, 0), 0, Long.MAX_VALUE));
        entry.gone = Long.MAX_VALUE;
        entries.put(key.name(), entry);
    }

    /** What lies there; empty if nothing does. */
    public synchronized Set<String> parts(CacheKey<?> key) {
        Entry entry = find(key);
        Set<String> parts = new LinkedHashSet<>();
        if (entry != null) {
            if (!entry.values.isEmpty()) {
                parts.add("value");
            }
            if (entry.fill != null) {
                parts.add("fill");
            }
            if (entry.staleUntil != null) {
                parts.add("staleUntil");
            }
            if (!entry.intents.isEmpty()) {
                parts.add("intents");
            }
        }
        return parts;
    }

    @Override
    public Snapshot read(CacheKey<?> key, long epoch) {
        requireHere(Operation.READ, List.of(key));
        return run(Operation.READ, () -> {
            Entry entry = find(key);
            if (entry == null) {
                return Snapshot.NOTHING;
            }
            boolean invalidated = entry.staleUntil != null;
            boolean loading = entry.fill != null && entry.electedUntil > 0;
            boolean updating = !entry.intents.isEmpty();
            Value value = entry.values.get(key.spec().fingerprint());
            if (value == null || value.epoch < epoch) {
                return new Snapshot(null, false, false, invalidated, loading, updating, null);
            }
            boolean kept = entry.keptUntil != null;
            boolean valid = !kept || (!clockIsHidden && now() < value.expires);
            boolean expired = kept && !clockIsHidden && now() >= value.expires;
            boolean fresh = entry.fill == null && !invalidated && !updating && valid;
            Duration remaining = fresh ? Duration.ofMillis(value.expires - now()) : null;
            return new Snapshot(value.envelope, fresh, expired, invalidated, loading, updating, remaining);
        });
    }

    @Override
    public StoredEntry inspect(CacheKey<?> key) {
        requireHere(Operation.READ, List.of(key));
        return run(Operation.READ, () -> {
            Entry entry = find(key);
            List<StoredEntry.Value> values = new ArrayList<>();
            List<StoredEntry.Update> updates = new ArrayList<>();
            if (entry != null) {
                entry.values.forEach((fingerprint, value) -> values.add(new StoredEntry.Value(
                        fingerprint,
                        value.envelope.toBytes().length + 10,
                        Instant.ofEpochMilli(value.expires),
                        value.epoch,
                        value.envelope.kind(),
                        value.envelope.ttl())));
                entry.intents.forEach(
                        (token, end) -> updates.add(new StoredEntry.Update(token, Instant.ofEpochMilli(end))));
            }
            return new StoredEntry(
                    Instant.ofEpochMilli(now()),
                    entry != null,
                    false,
                    entry == null ? null : Duration.ofMillis(entry.gone - now()),
                    values,
                    entry == null || entry.fill == null
                            ? null
                            : new StoredEntry.LeasedToken(entry.fill, Instant.ofEpochMilli(entry.electedUntil)),
                    entry == null || entry.staleUntil == null ? null : Instant.ofEpochMilli(entry.staleUntil),
                    updates.stream()
                            .map(StoredEntry.Update::leaseEnds)
                            .max(Instant::compareTo)
                            .orElse(null),
                    updates,
                    entry == null || entry.keptUntil == null ? null : Instant.ofEpochMilli(entry.keptUntil));
        });
    }

    @Override
    public Fetched fetch(CacheKey<?> key, long epoch, boolean allowsStale) {
        requireHere(Operation.FETCH, List.of(key));
        CacheOptions options = key.spec().options();
        return run(Operation.FETCH, () -> {
            Entry entry = entries.computeIfAbsent(key.name(), any -> new Entry());
            long now = now();
            Value own = entry.values.get(key.spec().fingerprint());
            Envelope value = own != null && own.epoch >= epoch && now < own.expires ? own.envelope : null;
            boolean loading = entry.fill != null && now < entry.electedUntil;
            if (value != null && entry.staleUntil == null) {
                Duration ttl = value.ttl();
                long tenth = ttl == null ? Long.MAX_VALUE : ttl.toMillis() / 10;
                boolean due = own.expires - now
                        <= Math.min(tenth, options.effectiveRefreshAhead().toMillis());
                return due && !loading
                        ? new Fetched.SuccessNeedQuery(value, false, elect(entry, options, epoch))
                        : new Fetched.Success(value, false);
            }
            boolean served = allowsStale && entry.staleUntil != null && now < entry.staleUntil;
            Envelope old = served ? value : null;
            if (entry.intents.values().stream().anyMatch(end -> now < end)) {
                return old == null ? new Fetched.NeedQueryNoStore() : new Fetched.Success(old, true);
            }
            if (loading) {
                return old == null
                        ? new Fetched.NeedWait(Duration.ofMillis(entry.electedUntil - now))
                        : new Fetched.Success(old, true);
            }
            LoadLease lease = elect(entry, options, epoch);
            return old == null ? new Fetched.NeedQuery(lease) : new Fetched.SuccessNeedQuery(old, true, lease);
        });
    }

    @Override
    public @Nullable Peeked peek(CacheKey<?> key, long epoch, boolean allowsStale) {
        requireHere(Operation.PEEK, List.of(key));
        return run(Operation.PEEK, () -> {
            Entry entry = find(key);
            Value value = entry == null ? null : entry.values.get(key.spec().fingerprint());
            if (entry == null || value == null || value.epoch < epoch) {
                return null;
            }
            Long staleUntil = entry.staleUntil;
            long ends = staleUntil == null ? value.expires : allowsStale ? Math.min(value.expires, staleUntil) : 0;
            return ends <= now()
                    ? null
                    : new Peeked(value.envelope, Duration.ofMillis(ends - now()), staleUntil != null, false);
        });
    }

    @Override
    public @Nullable Peeked peekExpired(CacheKey<?> key, long epoch) {
        requireHere(Operation.PEEK, List.of(key));
        return run(Operation.PEEK, () -> {
            Entry entry = find(key);
            Value value = entry == null ? null : entry.values.get(key.spec().fingerprint());
            if (entry == null || value == null || value.epoch < epoch || entry.staleUntil != null) {
                return null;
            }
            if (now() < value.expires) {
                return new Peeked(value.envelope, Duration.ofMillis(value.expires - now()), false, false);
            }
            long left = value.expires + key.spec().options().keptPastEnd().toMillis() - now();
            return left <= 0 || !entry.intents.isEmpty()
                    ? null
                    : new Peeked(value.envelope, Duration.ofMillis(left), false, true);
        });
    }

    @Override
    public boolean store(CacheKey<?> key, LoadLease lease, Envelope value, Duration life) {
        requireHere(Operation.STORE, List.of(key));
        return run(Operation.STORE, () -> {
            Entry entry = find(key);
            if (entry == null || !tokenOf(lease).equals(entry.fill)) {
                return false;
            }
            Entry stored = new Entry();
            long expires = now() + life.toMillis();
            stored.gone = expires;
            if (entry.staleUntil == null) {
                long soon = now() + life.toMillis() / 2;
                entry.values.entrySet().stream()
                        .filter(other -> !other.getKey().equals(key.spec().fingerprint()))
                        .filter(other -> other.getValue().expires > soon)
                        .limit(3)
                        .forEach(other -> {
                            stored.values.put(other.getKey(), other.getValue());
                            stored.gone = Math.min(stored.gone, other.getValue().expires);
                        });
            }
            stored.values.put(key.spec().fingerprint(), new Value(value, lease.epoch(), expires));
            long outlives = key.spec().options().keptPastEnd().toMillis();
            stored.gone += outlives;
            stored.keptUntil = outlives > 0 ? Long.valueOf(stored.gone) : null;
            entries.put(key.name(), stored);
            return true;
        });
    }

    @Override
    public void releaseLoad(CacheKey<?> key, LoadLease lease) {
        requireHere(Operation.RELEASE_LOAD, List.of(key));
        run(Operation.RELEASE_LOAD, () -> {
            Entry entry = find(key);
            if (entry != null && Arrays.equals(lease.id(), text(entry))) {
                entry.electedUntil = 0;
            }
            return true;
        });
    }

    @Override
    public void prepare(Collection<? extends CacheKey<?>> keys, String token, Duration lease) {
        requireHere(Operation.PREPARE, keys);
        run(Operation.PREPARE, () -> {
            keys.forEach(key -> prepare(key, token, lease));
            return true;
        });
    }

    private void prepare(CacheKey<?> key, String token, Duration lease) {
        Entry found = find(key);
        Entry entry = found != null ? found : new Entry();
        entries.put(key.name(), entry);
        long ends = now() + lease.toMillis();
        entry.intents.put(token, ends);
        entry.fill = null;
        if (!key.spec().options().allowsStale()) {
            entry.values.clear();
            entry.staleUntil = null;
            entry.keptUntil = null;
        } else if (!entry.values.isEmpty()) {
            entry.staleUntil = entry.staleUntil == null ? ends : Long.valueOf(Math.min(ends, entry.staleUntil));
        }
        entry.gone = Math.max(entry.gone, ends);
    }

    @Override
    public void invalidate(Collection<? extends CacheKey<?>> keys, String token) {
        requireHere(Operation.INVALIDATE, keys);
        run(Operation.INVALIDATE, () -> {
            keys.forEach(key -> invalidate(key, token, key.spec().options().effectiveStaleWindow()));
            return true;
        });
    }

    @Override
    public void invalidateNow(Collection<? extends CacheKey<?>> keys, String token) {
        requireHere(Operation.DROP, keys);
        run(Operation.DROP, () -> {
            keys.forEach(key -> invalidate(key, token, Duration.ZERO));
            return true;
        });
    }

    @Override
    public Map<CacheKey<?>, StoreUnavailableException> invalidateNow(Map<CacheKey<?>, String> tokens) {
        requirePartitions(Operation.DROP, tokens.keySet());
        return run(Operation.DROP, () -> {
            Map<CacheKey<?>, StoreUnavailableException> failed = new HashMap<>();
            tokens.forEach((key, token) -> {
                if (refused.contains(key.name())) {
                    failed.put(key, noPermission());
                } else {
                    invalidate(key, token, Duration.ZERO);
                }
            });
            return failed;
        });
    }

    @Override
    public PrefixEpochs epochs(int hash) {
        requireHere(Operation.EPOCHS, partitions.ofEpochs(hash));
        return run(
                Operation.EPOCHS,
                () -> new PrefixEpochs(
                        epochsOf(hash),
                        clearingsOf(hash).stream().map(Clearing::prefix).collect(Collectors.toSet())));
    }

    @Override
    public Map<String, Long> raiseEpochs(int hash, Map<String, Long> known, String token) {
        requireHere(Operation.RAISE_EPOCH, partitions.ofEpochs(hash));
        return run(Operation.RAISE_EPOCH, () -> {
            known.forEach((prefix, least) -> raise(hash, prefix, least));
            clearingsOf(hash).removeIf(one -> one.token.equals(token) && known.containsKey(one.prefix));
            return Map.copyOf(epochsOf(hash));
        });
    }

    private void raise(int hash, String prefix, long least) {
        epochsOf(hash).merge(prefix, Math.max(now() / 1000, least) + 1, (old, floor) -> Math.max(old + 1, floor));
    }

    @Override
    public void prepareClear(int hash, Collection<String> prefixes, String token, Duration lease) {
        requireHere(Operation.PREPARE_CLEAR, partitions.ofEpochs(hash));
        run(Operation.PREPARE_CLEAR, () -> {
            prefixes.forEach(prefix -> clearingsOf(hash).add(new Clearing(prefix, token, now() + lease.toMillis())));
            return true;
        });
    }

    @Override
    public boolean endExpiredClears(int hash, Map<String, Long> known) {
        requireHere(Operation.END_EXPIRED_CLEARS, partitions.ofEpochs(hash));
        return run(Operation.END_EXPIRED_CLEARS, () -> {
            List<Clearing> expired = clearingsOf(hash).stream()
                    .filter(one -> known.containsKey(one.prefix) && one.end <= now())
                    .toList();
            expired.stream()
                    .map(Clearing::prefix)
                    .distinct()
                    .forEach(prefix -> raise(hash, prefix, known.getOrDefault(prefix, 0L)));
            return clearingsOf(hash).removeAll(expired);
        });
    }

    /** The prefixes with a clearing in any hash. */
    public synchronized Set<String> clearing() {
        return clearings.values().stream()
                .flatMap(Collection::stream)
                .map(Clearing::prefix)
                .collect(Collectors.toSet());
    }

    private Set<Clearing> clearingsOf(int hash) {
        return clearings.computeIfAbsent(hash, any -> new LinkedHashSet<>());
    }

    private record Clearing(String prefix, String token, long end) {}

    private Map<String, Long> epochsOf(int hash) {
        return hash == 0 ? epochs : otherEpochs.computeIfAbsent(hash, any -> new HashMap<>());
    }

    @Override
    public Duration takeWorkLease(String name, String owner, Duration duration) {
        return run(Operation.LEASE, () -> {
            Lease held = leases.get(name);
            if (held != null && !held.owner.equals(owner) && held.end > now()) {
                return Duration.ofMillis(held.end - now());
            }
            leases.put(name, new Lease(owner, now() + duration.toMillis()));
            return Duration.ZERO;
        });
    }

    private record Lease(String owner, long end) {}

    /** Another master takes over that has never heard of anything. */
    public synchronized void loseEverything() {
        entries.clear();
        epochs.clear();
        clearings.clear();
        leases.clear();
    }

    /**
     * The entries as a replica has them now.
     *
     * @return promotes that replica: another server with these entries takes over. The caller decides when nodes connect to it
     */
    public synchronized Runnable replica() {
        Map<String, Entry> copy = new HashMap<>();
        entries.forEach((name, entry) -> copy.put(name, new Entry(entry)));
        return () -> {
            synchronized (this) {
                entries.clear();
                entries.putAll(copy);
            }
        };
    }

    @Override
    public void probe(Partitions in, int partition) {
        requireHere(Operation.PROBE, partition);
        run(Operation.PROBE, () -> true);
    }

    @Override
    public void onReconnect(Consumer<@Nullable SocketAddress> action) {
        reconnectActions.add(action);
    }

    /** Another master takes over that has never heard of the epochs. */
    public synchronized void loseEpochs() {
        epochs.clear();
        clearings.clear();
    }

    /** The line broke and is there again. */
    public void reconnect() {
        reconnectActions.forEach(action -> action.accept(null));
    }

    private void invalidate(CacheKey<?> key, String token, Duration staleWindow) {
        Entry entry = find(key);
        if (entry == null) {
            return;
        }
        long now = now();
        long window = staleWindow.toMillis();
        entry.fill = null;
        entry.intents.remove(token);
        entry.intents.values().removeIf(end -> end <= now);
        if (entry.values.isEmpty() || window <= 0) {
            entry.values.clear();
            entry.staleUntil = null;
            entry.keptUntil = null;
        } else {
            entry.keptUntil = null;
            long until = now + window;
            entry.staleUntil = entry.staleUntil == null ? until : Long.valueOf(Math.min(until, entry.staleUntil));
            long last =
                    entry.intents.values().stream().mapToLong(end -> end).max().orElse(0);
            entry.gone = Math.min(entry.gone, Math.max(entry.staleUntil, last));
        }
        dropIfEmpty(key, entry);
    }

    @Override
    public void removeUnreadable(CacheKey<?> key, Envelope unreadable) {
        requireHere(Operation.REMOVE_UNREADABLE, List.of(key));
        run(Operation.REMOVE_UNREADABLE, () -> {
            Entry entry = find(key);
            Value own = entry == null ? null : entry.values.get(key.spec().fingerprint());
            if (entry != null && own != null && Arrays.equals(own.envelope.toBytes(), unreadable.toBytes())) {
                entry.values.remove(key.spec().fingerprint());
                if (entry.values.isEmpty()) {
                    entry.staleUntil = null;
                    entry.keptUntil = null;
                    entry.fill = null;
                }
                dropIfEmpty(key, entry);
            }
            return true;
        });
    }

    private LoadLease elect(Entry entry, CacheOptions options, long epoch) {
        if (entry.fill == null) {
            entry.fill = Long.toString(++lastToken);
        }
        entry.electedUntil = now() + options.loadLease().toMillis();
        entry.gone =
                Math.max(entry.gone, entry.electedUntil + Duration.ofMinutes(2).toMillis());
        return new LoadLease(text(entry), epoch);
    }

    private static byte[] text(Entry entry) {
        return (entry.fill + ":" + entry.electedUntil).getBytes(StandardCharsets.US_ASCII);
    }

    private static String tokenOf(LoadLease lease) {
        String text = new String(lease.id(), StandardCharsets.US_ASCII);
        return text.substring(0, text.indexOf(':'));
    }

    private @Nullable Entry find(CacheKey<?> key) {
        Entry entry = entries.get(key.name());
        if (entry != null && entry.gone <= now()) {
            entries.remove(key.name());
            return null;
        }
        return entry;
    }

    private void dropIfEmpty(CacheKey<?> key, Entry entry) {
        if (entry.values.isEmpty() && entry.fill == null && entry.intents.isEmpty()) {
            entries.remove(key.name());
        }
    }

    private long now() {
        return clock.getAsLong();
    }

    private <T> T run(Operation operation, Supplier<T> work) {
        counts.get(operation).incrementAndGet();
        Held hold = held.remove(operation);
        if (hold != null) {
            hold.hold();
        }
        Runnable surprise = surprises.remove(operation);
        if (surprise != null) {
            surprise.run();
        }
        Fault fault = next.remove(operation);
        if (fault == null) {
            fault = always.get(operation);
        }
        if (fault == Fault.LOST_REQUEST) {
            throw new StoreUnavailableException(operation + " got lost", true, null);
        }
        T result;
        synchronized (this) {
            result = work.get();
        }
        Runnable afterwards = this.afterwards.remove(operation);
        if (afterwards != null) {
            afterwards.run();
        }
        if (fault == Fault.LOST_REPLY) {
            throw new StoreUnavailableException("The reply to " + operation + " got lost", true, null);
        }
        return result;
    }

    private static final class Entry {

        /** By the fingerprint of their type. */
        private final Map<String, Value> values = new LinkedHashMap<>();

        private @Nullable String fill;
        private long electedUntil;
        private @Nullable Long staleUntil;
        private @Nullable Long keptUntil;
        private final Map<String, Long> intents = new HashMap<>();
        private long gone;

        Entry() {}

        Entry(Entry other) {
            values.putAll(other.values);
            fill = other.fill;
            electedUntil = other.electedUntil;
            staleUntil = other.staleUntil;
            keptUntil = other.keptUntil;
            intents.putAll(other.intents);
            gone = other.gone;
        }
    }

    private record Value(Envelope envelope, long epoch, long expires) {}
}
