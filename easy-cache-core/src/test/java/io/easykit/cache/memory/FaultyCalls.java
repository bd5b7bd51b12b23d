package io.easykit.cache.memory;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.StoreUnavailableException;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The faults of a {@link FaultyCacheStore}: those of calls by their kinds, of partitions, and of keys. Counts all calls. */
abstract class FaultyCalls implements EntryStore {

    private final Map<Operation, AtomicInteger> counts = new EnumMap<>(Operation.class);
    private final Map<Operation, Fault> next = new ConcurrentHashMap<>();
    private final Map<Operation, Fault> always = new ConcurrentHashMap<>();
    private final Map<Operation, Held> held = new ConcurrentHashMap<>();
    private final Map<Operation, Runnable> before = new ConcurrentHashMap<>();
    private final Map<Operation, Runnable> after = new ConcurrentHashMap<>();
    private volatile Runnable onLost = () -> {};
    private final Set<Integer> away = ConcurrentHashMap.newKeySet();
    private final Set<String> refused = ConcurrentHashMap.newKeySet();

    FaultyCalls() {
        for (Operation operation : Operation.values()) {
            counts.put(operation, new AtomicInteger());
        }
    }

    /** Number of all calls, failed or not. */
    public final int count() {
        return counts.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    /** Number of calls of this kind, failed or not. */
    public final int count(Operation operation) {
        return counts.get(operation).get();
    }

    public final void failNext(Operation operation, Fault fault) {
        next.put(operation, fault);
    }

    /** All calls of this kind have the fault until {@link #back()}. */
    public final void fail(Operation operation, Fault fault) {
        always.put(operation, fault);
    }

    /** Every request is lost until {@link #back()}. */
    public final void away() {
        for (Operation operation : Operation.values()) {
            fail(operation, Fault.LOST_REQUEST);
        }
    }

    public final void back() {
        always.clear();
        next.clear();
    }

    /** Runs an action for each lost call, for example to let its timeout pass. */
    public final void onLost(Runnable action) {
        onLost = action;
    }

    /** Requests to a partition are lost until {@link #back(int)}. */
    public final void away(int partition) {
        away.add(partition);
    }

    public final void back(int partition) {
        away.remove(partition);
    }

    /** From now on calls with this key fail as a whole. The failure does not count against the server. */
    public final void refuse(CacheKey<?> key) {
        refused.add(key.name());
    }

    /** From now on calls with this key succeed again. */
    public final void allow(CacheKey<?> key) {
        refused.remove(key.name());
    }

    /** Holds the next call of this kind. */
    public final Held hold(Operation operation) {
        Held hold = new Held();
        held.put(operation, hold);
        return hold;
    }

    /** Runs an action before the next call of this kind. */
    public final void onNext(Operation operation, Runnable action) {
        before.put(operation, action);
    }

    /** Runs an action after the next call of this kind, before its caller has the reply. */
    public final void afterNext(Operation operation, Runnable action) {
        after.put(operation, action);
    }

    final <T extends @Nullable Object> T callWith(Operation operation, CacheKey<?> key, Supplier<T> store) {
        return call(operation, () -> requireKeys(operation, List.of(key)), store);
    }

    final void changeWith(Operation operation, Collection<? extends CacheKey<?>> keys, Runnable store) {
        boolean unused = call(operation, () -> requireKeys(operation, keys), () -> {
            store.run();
            return true;
        });
    }

    final <T> T callAt(Operation operation, int partition, Supplier<T> store) {
        return call(operation, () -> requirePartition(operation, partition), store);
    }

    /**
     * Makes one call. It holds the monitor of this object while the store works.
     *
     * @param check throws if the call cannot reach its partition, or may not use its keys
     */
    final <T extends @Nullable Object> T call(Operation operation, Runnable check, Supplier<T> store) {
        counts.get(operation).incrementAndGet();
        check.run();
        Held hold = held.remove(operation);
        if (hold != null) {
            hold.hold();
        }
        run(before.remove(operation));
        Fault once = next.remove(operation);
        Fault fault = once == null ? always.get(operation) : once;
        if (fault == Fault.LOST_REQUEST) {
            throw lost(operation.toString());
        }
        if (fault == Fault.FULL) {
            throw new StoreUnavailableException("Redis answered: OOM", true, null);
        }
        T reply;
        synchronized (this) {
            reply = store.get();
        }
        run(after.remove(operation));
        if (fault == Fault.LOST_REPLY) {
            throw lost("The reply to " + operation);
        }
        return reply;
    }

    private static void run(@Nullable Runnable action) {
        if (action != null) {
            action.run();
        }
    }

    private void requireKeys(Operation operation, Collection<? extends CacheKey<?>> keys) {
        if (keys.stream().anyMatch(this::isRefused)) {
            throw noPermission();
        }
        requirePartitions(operation, keys);
    }

    abstract int partitionOf(CacheKey<?> key);

    final void requirePartitions(Operation operation, Collection<? extends CacheKey<?>> keys) {
        if (!away.isEmpty()) {
            keys.forEach(key -> requirePartition(operation, partitionOf(key)));
        }
    }

    private void requirePartition(Operation operation, int partition) {
        if (away.contains(partition)) {
            throw lost(operation.toString());
        }
    }

    final boolean isRefused(CacheKey<?> key) {
        return refused.contains(key.name());
    }

    static StoreUnavailableException noPermission() {
        return new StoreUnavailableException("Redis answered: NOPERM", false, null);
    }

    private StoreUnavailableException lost(String what) {
        onLost.run();
        return StoreUnavailableException.unanswered(what + " got lost", null);
    }
}
