package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.Partitions;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Makes the calls of one or several updates, one after the other. A partition that has let one of them wait in vain gets no further
 * one, so that all of them together wait for it once. The other partitions get all of their calls. So does one whose calls fail at
 * once, such as on a connection that was just lost: the next call may find a new one. For one thread.
 */
final class BoundedStore extends ForwardingStore {

    /** A call that failed within this time has not waited. */
    private static final long AT_ONCE = TimeUnit.MILLISECONDS.toNanos(20);

    private final Ticker ticker;
    private final Map<Integer, StoreUnavailableException> silent = new HashMap<>();
    private Partitions known;

    BoundedStore(EntryStore store, Ticker ticker) {
        super(store);
        this.ticker = ticker;
        this.known = store.partitions();
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
        return failed;
    }

    @Override
    public Map<String, Long> raiseEpochs(int hash, Map<String, Long> raised, String token) {
        return call(present -> present.ofEpochs(hash), () -> store.raiseEpochs(hash, raised, token));
    }

    @Override
    public void prepareClear(int hash, Collection<String> prefixes, String token, Duration lease) {
        boolean unused = call(present -> present.ofEpochs(hash), () -> {
            store.prepareClear(hash, prefixes, token, lease);
            return true;
        });
    }

    /** A new connection may find others: until then all masters together were silent. */
    @Override
    public Partitions partitions() {
        Partitions present = store.partitions();
        if (present != known) {
            known = present;
            silent.clear();
        }
        return present;
    }

    private void forEachPartition(Collection<? extends CacheKey<?>> keys, Consumer<List<CacheKey<?>>> command) {
        Partitions present = partitions();
        Map<Integer, List<CacheKey<?>>> parts = new LinkedHashMap<>();
        keys.forEach(key ->
                parts.computeIfAbsent(present.of(key), any -> new ArrayList<>()).add(key));
        @Nullable StoreUnavailableException first = null;
        for (Map.Entry<Integer, List<CacheKey<?>>> part : parts.entrySet()) {
            try {
                boolean unused = call(any -> part.getKey(), () -> {
                    command.accept(part.getValue());
                    return true;
                });
            } catch (StoreUnavailableException away) {
                first = first == null ? away : first;
            }
        }
        if (first != null) {
            throw first;
        }
    }

    /** @param partition finds the one that is called, which is asked only if it matters: in a cluster it is not cheap */
    private <T> T call(ToIntFunction<Partitions> partition, Supplier<T> call) {
        if (!silent.isEmpty()) {
            StoreUnavailableException before = silent.get(partition.applyAsInt(partitions()));
            if (before != null) {
                throw before;
            }
        }
        long startedAt = ticker.nanoTime();
        try {
            return call.get();
        } catch (StoreUnavailableException away) {
            if (away.isUnanswered() && ticker.nanoTime() - startedAt >= AT_ONCE) {
                silent.put(partition.applyAsInt(partitions()), away);
            }
            throw away;
        }
    }
}
