package io.easykit.cache;

import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.Flight.Landing;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Loads that are not stored. */
final class SoloLoads {

    private final Values values;
    private final CacheListener listener;
    private final Ticker ticker;
    private final Map<CacheKey<?>, Flight<?>> flights = new ConcurrentHashMap<>();

    SoloLoads(Engine engine) {
        this.values = engine.values();
        this.listener = engine.listener();
        this.ticker = engine.ticker();
    }

    /** Loads for one reader, on its own. */
    <V> Landing<V> load(Read<V> read) {
        long began = ticker.nanoTime();
        try {
            V value = read.loader().load();
            listener.onLoad(read.key(), since(began), Load.NOT_STORED);
            return Landing.of(value, began);
        } catch (Throwable failure) {
            listener.onLoad(read.key(), since(began), Load.FAILED);
            return Landing.failed(failure, began);
        }
    }

    /**
     * Loads one at a time a key: waits for a load that is running, and has its result if it may.
     *
     * @param beside another flight for the key, whose result is as welcome; null if there is none
     */
    <V> Landing<V> join(Read<V> read, @Nullable Flight<V> beside) {
        for (; ; ) {
            Flight<V> mine = new Flight<>();
            Flight<V> running = putIfAbsent(read.key(), mine);
            if (running == null) {
                return lead(mine, read);
            }
            if (running.isOwn()) {
                return load(read);
            }
            Landing<V> landing = await(running, beside);
            if (landing == null) {
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

    private static <V> @Nullable Landing<V> await(Flight<V> running, @Nullable Flight<V> beside) {
        try {
            return running.await(beside, Long.MAX_VALUE);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    @SuppressWarnings("unchecked") // equal keys have the same spec, so the same V
    private <V> @Nullable Flight<V> putIfAbsent(CacheKey<V> key, Flight<V> flight) {
        return (Flight<V>) flights.putIfAbsent(key, flight);
    }

    private Duration since(long began) {
        return Duration.ofNanos(ticker.nanoTime() - began);
    }
}
