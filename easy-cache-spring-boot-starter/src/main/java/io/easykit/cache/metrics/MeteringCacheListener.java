package io.easykit.cache.metrics;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;

/**
 * Meters of each cache, by prefix and cluster: {@code easycache.requests}, {@code easycache.waits}, {@code easycache.loads},
 * {@code easycache.invalidations} and {@code easycache.unreadable}. Counts {@code easycache.changes} of each cluster. Meters are
 * registered once for each cache. The gauge {@code easycache.master.available} of a cluster master is registered with its first
 * change.
 */
public final class MeteringCacheListener implements CacheListener, DisposableBean {

    private final MeterRegistry registry;
    private final Map<CacheName, CacheMeters> meters = new ConcurrentHashMap<>();
    private final Map<Master, MasterMeter> masters = new ConcurrentHashMap<>();

    public MeteringCacheListener(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void onHit(CacheKey<?> key, Hit hit) {
        metersOf(key).of(hit).increment();
    }

    @Override
    public void onMiss(CacheKey<?> key) {
        metersOf(key).misses.increment();
    }

    @Override
    public void onWait(CacheKey<?> key, Duration waited) {
        metersOf(key).waits.record(waited);
    }

    @Override
    public void onLoad(CacheKey<?> key, Duration took, Load load) {
        metersOf(key).of(load).record(took);
    }

    @Override
    public void onInvalidation(CacheKey<?> key, @Nullable Throwable failure) {
        CacheMeters all = metersOf(key);
        (failure == null ? all.acknowledged : all.undelivered).increment();
    }

    @Override
    public void onUnreadable(CacheKey<?> key) {
        metersOf(key).unreadable.increment();
    }

    @Override
    public void onAvailability(String clusterId, State state) {
        ClusterMeters.changes(registry, clusterId, state).increment();
    }

    @Override
    public void onMasterAvailability(String clusterId, String slots, State state) {
        masters.computeIfAbsent(new Master(clusterId, slots), this::newMaster)
                .available
                .set(state == State.AVAILABLE ? 1 : 0);
    }

    private MasterMeter newMaster(Master master) {
        AtomicInteger available = new AtomicInteger();
        Gauge gauge = Gauge.builder("easycache.master.available", available, AtomicInteger::get)
                .description("Whether readers use these slots of the Redis cluster (1 or 0)")
                .tags("cluster", master.cluster, "master", master.slots)
                .register(registry);
        return new MasterMeter(available, gauge);
    }

    /** Former slots would be shown with their last state for ever. */
    @Override
    public void onMasters(String clusterId, Set<String> slots) {
        masters.entrySet().removeIf(one -> {
            Master master = one.getKey();
            boolean former = master.cluster.equals(clusterId) && !slots.contains(master.slots);
            if (former) {
                registry.remove(one.getValue().gauge);
            }
            return former;
        });
    }

    private record Master(String cluster, String slots) {}

    private record MasterMeter(AtomicInteger available, Gauge gauge) {}

    /** A registry that lives longer, such as that of a parent context, would ignore the gauges of the next context. */
    @Override
    public void destroy() {
        masters.values().forEach(one -> registry.remove(one.gauge));
    }

    private CacheMeters metersOf(CacheKey<?> key) {
        CacheName name = new CacheName(key.spec().prefix(), key.spec().clusterId());
        CacheMeters known = meters.get(name);
        return known != null ? known : meters.computeIfAbsent(name, some -> new CacheMeters(registry, some));
    }

    private record CacheName(String prefix, String cluster) {}

    private static final class CacheMeters {

        private final MeterRegistry registry;
        private final Tags tags;
        private final Counter hits;
        private final Counter near;
        private final Counter stale;
        private final Counter local;
        private final Counter expired;
        private final Counter misses;
        private final Timer waits;
        private final Timer stored;
        private final Timer rejected;
        private final Timer notStored;
        private final Timer failed;
        private final Counter acknowledged;
        private final Counter undelivered;
        private final Counter unreadable;

        CacheMeters(MeterRegistry registry, CacheName name) {
            this.registry = registry;
            this.tags = Tags.of("prefix", name.prefix(), "cluster", name.cluster());
            this.hits = requests("hit");
            this.near = requests("near");
            this.stale = requests("stale");
            this.local = requests("local");
            this.expired = requests("expired");
            this.misses = requests("miss");
            this.waits = Timer.builder("easycache.waits")
                    .description("Waits of readers for a load of another reader, or for an update")
                    .tags(tags)
                    .register(registry);
            this.stored = loads("stored");
            this.rejected = loads("rejected");
            this.notStored = loads("not_stored");
            this.failed = loads("failed");
            this.acknowledged = invalidations("acknowledged");
            this.undelivered = invalidations("failed");
            this.unreadable = Counter.builder("easycache.unreadable")
                    .description("Unreadable values that were removed")
                    .tags(tags)
                    .register(registry);
        }

        Counter of(Hit hit) {
            return switch (hit) {
                case FRESH -> hits;
                case NEAR -> near;
                case STALE -> stale;
                case LOCAL -> local;
                case EXPIRED -> expired;
            };
        }

        Timer of(Load load) {
            return switch (load) {
                case STORED -> stored;
                case REJECTED -> rejected;
                case NOT_STORED -> notStored;
                case FAILED -> failed;
            };
        }

        private Counter requests(String result) {
            return Counter.builder("easycache.requests")
                    .description("Reads, by source of the value")
                    .tags(tags.and("result", result))
                    .register(registry);
        }

        private Timer loads(String result) {
            return Timer.builder("easycache.loads")
                    .description("Loads, by result")
                    .tags(tags.and("result", result))
                    .register(registry);
        }

        private Counter invalidations(String result) {
            return Counter.builder("easycache.invalidations")
                    .description("Entries invalidated by updates, by result")
                    .tags(tags.and("result", result))
                    .register(registry);
        }
    }
}
