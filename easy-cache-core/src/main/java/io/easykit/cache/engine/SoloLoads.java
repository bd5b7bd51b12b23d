package io.easykit.cache.engine;

import static java.util.Objects.requireNonNull;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.CacheLoadTimeoutException;
import io.easykit.cache.engine.Flight.Landing;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Loads that are not stored.
 *
 * <p>Readers of a key share one such load, and wait for it no longer than their waiting time, or for {@link Flight#GRACE}
 * if that is over. Then each loads for itself, as long as the {@link LoadLimit} has a permit. An interrupted reader stops
 * waiting at once and does the same, with its interrupt flag set.
 */
final class SoloLoads {

    private final LoadLimit limit;
    private final Values values;
    private final CacheListener listener;
    private final Ticker ticker;
    private final Map<CacheKey<?>, Flight<?>> flights = new ConcurrentHashMap<>();

    SoloLoads(LoadLimit limit, Engine engine) {
        this.limit = limit;
        this.values = engine.values();
        this.listener = engine.listener();
        this.ticker = engine.ticker();
    }

    /** Loads for one reader, on its own. */
    <V> Landing<V> load(Read<V> read) {
        return requireNonNull(read.scope().run(() -> loadHere(read)));
    }

    private <V> Landing<V> loadHere(Read<V> read) {
        long began = ticker.nanoTime();
        Landing<V> landing = LoadInProgress.load(read.loader(), began);
        listener.onLoad(read.key(), since(began), landing.failure() == null ? Load.NOT_STORED : Load.FAILED);
        return landing;
    }

    /**
     * Loads one at a time a key: waits for a load that is running, and has its result if it may.
     *
     * @param beside another flight for the key, whose result is as welcome; null if there is none
     */
    <V> Landing<V> join(Read<V> read, @Nullable Flight<V> beside) {
        long deadline = ticker.nanoTime() + Math.max(read.patience(ticker), Flight.GRACE.toNanos());
        for (; ; ) {
            Flight<V> mine = new Flight<>();
            Flight<V> running = putIfAbsent(read.key(), mine);
            if (running == null) {
                return lead(mine, read);
            }
            if (running.isOwn()) {
                return load(read);
            }
            Landing<V> landing = await(running, beside, read, deadline);
            if (landing == null) {
                return loadOverdue(read);
            }
            if (landing.unstorable()) {
                return load(read);
            }
            if (landing.serves(read)) {
                return values.unpack(landing, read.key());
            }
            beside = null;
        }
    }

    private <V> Landing<V> lead(Flight<V> flight, Read<V> read) {
        Landing<V> landing = null;
        try {
            landing = load(read);
            return landing;
        } finally {
            flights.remove(read.key(), flight);
            flight.land(landing != null ? values.pack(landing, read.key()) : Landing.ownOnly(null));
        }
    }

    private <V> @Nullable Landing<V> await(Flight<V> running, @Nullable Flight<V> beside, Read<V> read, long deadline) {
        long left = deadline - ticker.nanoTime();
        if (left <= 0 || running.isStuck(read.options().waiting())) {
            return null;
        }
        try {
            return running.await(beside, left);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    private <V> Landing<V> loadOverdue(Read<V> read) {
        try (LoadLimit.Permit permit = limit.tryEnterOverdue(read.key())) {
            if (permit != null) {
                return load(read);
            }
        }
        String reason = "too many other readers of this key, or of other ones, have begun to load for themselves";
        return Landing.failed(new CacheLoadTimeoutException(read.key(), reason), ticker.nanoTime());
    }

    @SuppressWarnings("unchecked") // equal keys have the same spec, so the same V
    private <V> @Nullable Flight<V> putIfAbsent(CacheKey<V> key, Flight<V> flight) {
        return (Flight<V>) flights.putIfAbsent(key, flight);
    }

    private Duration since(long began) {
        return Duration.ofNanos(ticker.nanoTime() - began);
    }
}
