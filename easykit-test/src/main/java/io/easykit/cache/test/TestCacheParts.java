package io.easykit.cache.test;

import io.easykit.cache.Availability;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.memory.InMemoryCacheStore;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.time.EngineTime;
import io.easykit.delayqueue.time.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The parts of a test cache that exist before its engine: time, stores in memory with faults, and counts of its calls. For
 * frameworks that build the engine; others use {@link EasyCacheTester#create()}.
 */
public final class TestCacheParts {

    private static final long LEVEL_SIZE = 10_000;

    private final VirtualTime time;
    private final VirtualEngineTime engineTime;
    private final Map<String, InMemoryCacheStore> memory = new LinkedHashMap<>();
    private final CacheCalls calls = new CacheCalls();
    private final List<EasyCacheEngine> nodes = new ArrayList<>();
    private final CacheFaults faults = new CacheFaults(this::forEachBreaker);
    private final boolean sharesTime;
    private long startNanos;

    private TestCacheParts(VirtualTime time, boolean sharesTime, Set<String> furtherClusters) {
        this.time = time;
        this.sharesTime = sharesTime;
        this.engineTime = new VirtualEngineTime(time);
        this.startNanos = time.nanos();
        addStore(CacheSpec.DEFAULT_CLUSTER);
        furtherClusters.forEach(this::addStore);
    }

    /**
     * Parts with a time of their own.
     *
     * @param furtherClusters ids of stores besides the default one
     */
    public static TestCacheParts withOwnTime(Set<String> furtherClusters) {
        return withOwnTime(furtherClusters, () -> false);
    }

    /**
     * Parts of an application's cache, with a time of their own.
     *
     * @param furtherClusters ids of stores besides the default one
     * @param inTransaction whether the calling thread has a transaction. While a call of the engine pauses within it, no reloads run
     */
    public static TestCacheParts withOwnTime(Set<String> furtherClusters, BooleanSupplier inTransaction) {
        return new TestCacheParts(new VirtualTime(present(), inTransaction), false, furtherClusters);
    }

    /**
     * Parts in the time of a delay queue, whose reset moves it.
     *
     * @param furtherClusters ids of stores besides the default one
     */
    public static TestCacheParts in(VirtualTime time, Set<String> furtherClusters) {
        return new TestCacheParts(time, true, furtherClusters);
    }

    private void addStore(String clusterId) {
        memory.put(clusterId, new InMemoryCacheStore(() -> time.micros() / 1000));
    }

    /** A whole millisecond, so that ends are exact. */
    private static Instant present() {
        return Instant.now().truncatedTo(ChronoUnit.MILLIS);
    }

    /** The time and the threads of an engine. */
    public EngineTime engineTime() {
        return engineTime;
    }

    /** The stores as a node reaches them, by the ids of their clusters. */
    public Map<String, EntryStore> stores() {
        Map<String, EntryStore> stores = new LinkedHashMap<>();
        memory.forEach((id, store) -> stores.put(id, new NodeStore(store, faults)));
        return stores;
    }

    /** Counts the reads and loads of the node of the test. */
    public CacheListener recorder() {
        return calls;
    }

    /**
     * The tester of an application's engine, which has these parts. It does not close the engine.
     *
     * @param inTransaction whether a transaction is active on the calling thread
     */
    public EasyCacheTester tester(EasyCacheEngine engine, ValueCodec codec, BooleanSupplier inTransaction) {
        return new EasyCacheTester(
                this, engine, codec, () -> builder(codec).time(engineTime).build(), Optional.of(inTransaction));
    }

    /** Sets the store's clock to the present time. */
    public void startAtPresent() {
        time.setClock(present());
    }

    /** A node with these parts. */
    EasyCacheEngine.Builder builder(ValueCodec codec) {
        EasyCacheEngine.Builder builder = EasyCacheEngine.builder(codec)
                .nearLevels(() -> CaffeineLocalLevel.near(LEVEL_SIZE, engineTime::nanoTime))
                .localLevels(() -> new CaffeineLocalLevel(LEVEL_SIZE, engineTime::nanoTime));
        stores().forEach(builder::store);
        return builder;
    }

    VirtualTime time() {
        return time;
    }

    /** Whether the handlers of a delay queue run when time advances. */
    boolean sharesTime() {
        return sharesTime;
    }

    CacheFaults faults() {
        return faults;
    }

    CacheCalls calls() {
        return calls;
    }

    /** How long the present test method has run. */
    Duration elapsed() {
        return Duration.ofNanos(time.nanos() - startNanos);
    }

    InMemoryCacheStore memory(String clusterId) {
        InMemoryCacheStore store = memory.get(clusterId);
        if (store == null) {
            throw new IllegalArgumentException("There is no Redis cluster '" + clusterId + "' in this test, but "
                    + memory.keySet() + ". Name it in the settings easy-cache.clusters.");
        }
        return store;
    }

    void addNode(EasyCacheEngine node) {
        nodes.add(node);
        if (faults.areBreakersOpen()) {
            breakersOf(node).forEach(breaker -> breaker.force(Availability.State.UNAVAILABLE));
        }
    }

    void removeNode(EasyCacheEngine node) {
        nodes.remove(node);
    }

    private void forEachBreaker(Consumer<Availability> change) {
        nodes.forEach(node -> breakersOf(node).forEach(change));
    }

    private static List<Availability> breakersOf(EasyCacheEngine node) {
        List<Availability> breakers = new ArrayList<>();
        for (String id : node.clusterIds()) {
            Availability breaker = node.availability(id);
            if (breaker != null) {
                breakers.add(breaker);
            }
        }
        return breakers;
    }

    void dropRefreshes() {
        engineTime.dropRefreshes();
    }

    void clear() {
        memory.values().forEach(InMemoryCacheStore::clear);
        calls.clear();
        startNanos = time.nanos();
    }
}
