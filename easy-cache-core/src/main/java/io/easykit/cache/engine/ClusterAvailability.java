package io.easykit.cache.engine;

import io.easykit.cache.Availability;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.store.Partitions;
import io.easykit.cache.store.StoreUnavailableException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The circuit breakers of the partitions of one Redis, one for each master of a cluster, and the state that an operator forces on
 * all of them. Finds the breaker of a key, and reports changes.
 */
final class ClusterAvailability implements Availability, CircuitBreaker.Shared {

    private static final Logger log = LoggerFactory.getLogger(Availability.class);

    private final String clusterId;
    private final CircuitBreakerOptions options;
    private final Ticker ticker;
    private final Consumer<Change> onChange;

    private final CacheListener listener;
    private final RateLimitedLog delayLine;
    private final RateLimitedLog singleLine;

    private final Queue<Consumer<CacheListener>> untold = new ArrayDeque<>(); // guarded by this, as the next one
    private boolean telling;
    private volatile Parts parts;
    private volatile @Nullable State forced;

    /**
     * @param onChange takes each change at once, before another one, and returns soon
     * @param listener receives each change soon, on the thread of a change, and without the locks that other threads wait for
     */
    ClusterAvailability(
            String clusterId,
            CircuitBreakerOptions options,
            Ticker ticker,
            Consumer<Change> onChange,
            CacheListener listener) {
        this.clusterId = clusterId;
        this.listener = listener;
        this.options = options;
        this.ticker = ticker;
        this.onChange = onChange;
        this.delayLine = new RateLimitedLog(ticker);
        this.singleLine = new RateLimitedLog(ticker);
        this.parts = new Parts(Partitions.ONE, List.of(new CircuitBreaker(this, newWindow(), Partitions.ONE, 0, true)));
    }

    /**
     * A change of state.
     *
     * @param slots name of the partition, if there are several; empty for the cluster as a whole
     */
    record Change(String slots, State state) {}

    /** The partitions and their circuit breakers. */
    private record Parts(Partitions partitions, List<CircuitBreaker> breakers) {}

    @Override
    public State state() {
        return parts.breakers.stream().allMatch(CircuitBreaker::mayRead) ? State.AVAILABLE : State.UNAVAILABLE;
    }

    @Override
    public Map<String, State> masters() {
        Map<String, State> masters = new LinkedHashMap<>();
        for (CircuitBreaker breaker : parts.breakers) {
            if (!breaker.name().isEmpty()) {
                masters.put(breaker.name(), breaker.state());
            }
        }
        return masters;
    }

    @Override
    public List<String> problems() {
        List<String> problems = new ArrayList<>();
        for (CircuitBreaker breaker : parts.breakers) {
            String problem = breaker.problem();
            if (problem != null) {
                problems.add(breaker.name().isEmpty() ? problem : breaker.name() + ": " + problem);
            }
        }
        return problems;
    }

    @Override
    public Optional<State> forced() {
        return Optional.ofNullable(forced);
    }

    @Override
    public void force(State state) {
        changing(() -> {
            forced = state;
            if (state == State.UNAVAILABLE) {
                parts.breakers.forEach(CircuitBreaker::forceUnavailable);
            }
        });
    }

    @Override
    public void reset() {
        changing(() -> forced = null);
    }

    @Override
    public String clusterId() {
        return clusterId;
    }

    @Override
    public @Nullable State forcedState() {
        return forced;
    }

    CircuitBreakerOptions options() {
        return options;
    }

    private SlidingWindow newWindow() {
        return new SlidingWindow(options, ticker);
    }

    Partitions partitions() {
        return parts.partitions;
    }

    /** Those of all partitions, in their order. */
    List<CircuitBreaker> breakers() {
        return parts.breakers;
    }

    /** The circuit breaker of an entry. Each read calls this. */
    CircuitBreaker of(CacheKey<?> key) {
        Parts now = parts;
        return now.breakers.get(now.partitions.of(key));
    }

    /**
     * @throws StoreUnavailableException if the partitions have been replaced
     */
    CircuitBreaker of(Partitions partitions, int partition) {
        Parts now = parts;
        if (now.partitions != partitions) {
            throw StoreUnavailableException.notCalled("The partitions have just been replaced");
        }
        return now.breakers.get(partition);
    }

    @Override
    public void delayed(StoreUnavailableException failure) {
        if (delayLine.isDue()) {
            log.warn(
                    "Calls of Redis '{}' go on without the cache: {}. Cache smaller values, or raise the command"
                            + " timeout. Logged once a minute",
                    clusterId,
                    failure.getMessage());
        }
    }

    @Override
    public void singleFailed(StoreUnavailableException failure) {
        if (!(failure.getCause() instanceof InterruptedException) && singleLine.isDue()) {
            log.warn(
                    "A call of Redis '{}' failed, and goes on without the cache: {}. Such keys are not cached, and"
                            + " CP updates of them are refused. If permission for keys is missing, allow ~<key-prefix>* to"
                            + " the user of this connection. Logged once a minute",
                    clusterId,
                    failure.getMessage());
        }
    }

    CircuitBreaker ofEpochs(int hash) {
        Parts now = parts;
        return now.breakers.get(now.partitions.ofEpochs(hash));
    }

    CircuitBreaker ofWorkLease(String name) {
        Parts now = parts;
        return now.breakers.get(now.partitions.ofWorkLease(name));
    }

    /**
     * Replaces the partitions. Unless all were available, all of the new ones have to recover: invalidations may wait for
     * any of them. Calls that are under way, and those until the first repetition of recent invalidations, are suspect.
     */
    void repartition(Partitions value) {
        replace(value);
        tell();
    }

    /** As {@link #repartition}, without the listener: the caller, which has a lock, calls {@link #tell} without it. */
    void replace(Partitions value) {
        change(() -> {
            boolean available = state() == State.AVAILABLE && forced == null;
            List<CircuitBreaker> fresh = new ArrayList<>();
            for (int i = 0; i < value.count(); i++) {
                fresh.add(new CircuitBreaker(this, newWindow(), value, i, available));
            }
            List<CircuitBreaker> former = parts.breakers;
            fresh.forEach(breaker -> breaker.repetition().connected());
            former.forEach(breaker -> breaker.repetition().connected());
            parts = new Parts(value, List.copyOf(fresh));
            former.forEach(breaker -> breaker.repetition().connected()); // for calls that have begun since
            Set<String> masters = Set.copyOf(masters().keySet());
            untold.add(told -> told.onMasters(clusterId, masters));
        });
    }

    @Override
    public void change(CircuitBreaker breaker, Runnable change) {
        changing(() -> {
            if (parts.breakers.contains(breaker)) {
                change.run();
            }
        });
    }

    private void changing(Runnable change) {
        change(change);
        tell();
    }

    private synchronized void change(Runnable change) {
        State before = state();
        Map<String, State> mastersBefore = masters();
        change.run();
        masters().forEach((slots, state) -> {
            if (mastersBefore.getOrDefault(slots, state) != state) {
                changed(new Change(slots, state));
            }
        });
        if (state() != before) {
            changed(new Change("", state()));
        }
    }

    private void changed(Change change) {
        untold.add(told -> tell(told, change));
        onChange.accept(change);
    }

    /**
     * Calls the listener in the order of the changes, by one thread at a time: a listener may be slow. A recovery worker calls it inside
     * its round, so a slow listener delays the rounds of this worker.
     */
    void tell() {
        for (Consumer<CacheListener> next = nextToTell(); next != null; next = nextToTell()) {
            try {
                next.accept(listener);
            } finally {
                toldNext();
            }
        }
    }

    private void tell(CacheListener told, Change change) {
        if (change.slots().isEmpty()) {
            told.onAvailability(clusterId, change.state());
        } else {
            told.onMasterAvailability(clusterId, change.slots(), change.state());
        }
    }

    private synchronized @Nullable Consumer<CacheListener> nextToTell() {
        Consumer<CacheListener> next = telling ? null : untold.poll();
        telling |= next != null;
        return next;
    }

    private synchronized void toldNext() {
        telling = false;
    }
}
