package io.easykit.cache.transaction;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reserves connections for threads that hold one and need a further one.
 *
 * <p>Such threads can deadlock: all connections of a pool are held, and each holder waits for one more. So only a part
 * of each pool may be used as further connections. A thread without a reservation must neither take a further
 * connection nor wait for a thread that does. Then at least one connection is always held by a thread that will return
 * it.
 */
public final class ConnectionPools {

    private final PoolSizes pools;
    private final @Nullable Integer extraConnections;
    private final Map<Object, Reservable> reservables = new ConcurrentHashMap<>();

    /**
     * @param pools finds the pool of a {@code DataSource}; null if its size is unknown
     * @param extraConnections reservations for each pool; null for half of its size
     */
    public ConnectionPools(PoolSizes pools, @Nullable Integer extraConnections) {
        this.pools = pools;
        this.extraConnections = extraConnections;
    }

    /**
     * Reserves a further connection for a thread that already holds some.
     *
     * @param held the pools of the held connections
     * @return releases the reservation; null if there is none left
     */
    @Nullable Runnable reserve(Collection<Object> held) {
        List<Semaphore> reserved = new ArrayList<>(held.size());
        Runnable release = () -> reserved.forEach(Semaphore::release);
        for (Object pool : held) {
            Reservable reservable = reservables.computeIfAbsent(pool, this::reservable);
            if (reservable.isExhausted() || !reservable.permits.tryAcquire()) {
                release.run();
                return null;
            }
            reserved.add(reservable.permits);
        }
        return release;
    }

    private Reservable reservable(Object key) {
        Pool pool = pools.of(key);
        return new Reservable(new Semaphore(permits(pool)), pool);
    }

    private int permits(@Nullable Pool pool) {
        if (extraConnections != null) {
            return extraConnections;
        }
        if (pool == null) {
            return 0;
        }
        return pool.size() == Pool.UNLIMITED ? Integer.MAX_VALUE : pool.size() / 2;
    }

    /**
     * A connection pool.
     *
     * @param active number of connections in use
     */
    public record Pool(int size, IntSupplier active) {

        static final int UNLIMITED = -1;
    }

    private record Reservable(Semaphore permits, @Nullable Pool pool) {

        boolean isExhausted() {
            return pool != null
                    && pool.size() != Pool.UNLIMITED
                    && pool.active().getAsInt() >= pool.size();
        }
    }
}
