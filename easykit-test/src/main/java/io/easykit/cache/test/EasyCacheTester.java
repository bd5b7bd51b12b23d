package io.easykit.cache.test;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.EasyCache;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.admin.CacheNumbers;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.delayqueue.time.VirtualTime;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.assertj.core.api.AssertProvider;

/**
 * A cache in memory whose time a test moves. {@link #advance} runs due refreshes, and the rounds in which nodes read epochs,
 * deliver invalidations and recover, on the calling thread before it returns.
 *
 * <pre>{@code
 * EasyCacheTester cache = EasyCacheTester.create();
 * CacheSpec<User> users = CacheSpec.of("user", User.class);
 *
 * cache.cache().fetch(users.key(42), () -> dao.find(42));
 * assertThat(cache).hasEntry("user", 42).expiresIn(Duration.ofMinutes(10));
 *
 * cache.advance(Duration.ofMinutes(10));
 * assertThat(cache).hasNoEntry("user", 42).hasLoads("user", 1);
 * }</pre>
 *
 * <p>The engine, its fencing, leases and recovery are those of production. The network is left out.
 */
public final class EasyCacheTester implements AssertProvider<EasyCacheAssert>, AutoCloseable {

    /** Longer than the recovery of a node, and the pauses after failed loads. */
    private static final Duration RECOVERY = Duration.ofMinutes(1);

    private final TestCacheParts parts;
    private final EasyCacheEngine engine;
    private final ValueCodec codec;
    private final Supplier<EasyCacheEngine> newNode;
    private final List<EasyCacheEngine> others = new ArrayList<>();

    /** Whether a transaction is active on this thread. Empty if the engine is not that of an application. */
    private final Optional<BooleanSupplier> inTransaction;

    EasyCacheTester(
            TestCacheParts parts,
            EasyCacheEngine engine,
            ValueCodec codec,
            Supplier<EasyCacheEngine> newNode,
            Optional<BooleanSupplier> inTransaction) {
        this.parts = parts;
        this.engine = engine;
        this.codec = codec;
        this.newNode = newNode;
        this.inTransaction = inTransaction;
        parts.addNode(engine);
    }

    /** A cache that stores values as JSON. */
    public static EasyCacheTester create() {
        return create(builder -> builder);
    }

    /**
     * A cache with other settings.
     *
     * @param settings changes the builder of the engine, for each node. Time and threads stay those of the tester
     */
    public static EasyCacheTester create(UnaryOperator<EasyCacheEngine.Builder> settings) {
        return create(new JacksonValueCodec(), settings);
    }

    /** A cache with another codec and other settings. */
    public static EasyCacheTester create(ValueCodec codec, UnaryOperator<EasyCacheEngine.Builder> settings) {
        TestCacheParts parts = TestCacheParts.withOwnTime(Set.of());
        UnaryOperator<EasyCacheEngine.Builder> all =
                builder -> settings.apply(builder).time(parts.engineTime());
        EasyCacheEngine engine =
                all.apply(parts.builder(codec).listener(parts.recorder())).build();
        return new EasyCacheTester(
                parts, engine, codec, () -> all.apply(parts.builder(codec)).build(), Optional.empty());
    }

    /** The cache of the node of this test. */
    public EasyCache cache() {
        return engine;
    }

    public EasyCacheAdmin admin() {
        return engine.admin();
    }

    /**
     * A further node on the same store, with a near level, a circuit breaker and read epochs of its own. It ends with the test.
     * Its reads and loads are not counted.
     */
    public EasyCache otherNode() {
        EasyCacheEngine node = newNode.get();
        others.add(node);
        parts.addNode(node);
        return node;
    }

    /**
     * Lets time pass, and runs refreshes and rounds that become due on the calling thread before it returns.
     *
     * @throws IllegalArgumentException if the duration is negative
     * @throws IllegalStateException if a refresh calls it, or if a transaction of the application is active on this thread
     */
    public void advance(Duration duration) {
        if (inTransaction.isPresent() && inTransaction.get().getAsBoolean()) {
            throw new IllegalStateException(
                    "Time is advanced within a transaction of this thread. Refreshes would read its uncommitted work. End it"
                            + " first, by TestTransaction.flagForCommit() and TestTransaction.end(), or advance in a test"
                            + " without @Transactional.");
        }
        parts.time().advance(duration);
    }

    /** Runs the refreshes and rounds that are due now. */
    public void runDue() {
        advance(Duration.ZERO);
    }

    /** The store's clock. It begins at the present time. */
    public Instant now() {
        return parts.time().now();
    }

    /** A clock that shows the store's time, for an application that takes its time from a {@link Clock}. */
    public Clock clock() {
        InstantSource now = this::now;
        return now.withZone(ZoneOffset.UTC);
    }

    /** The virtual time, for other parts of a test. */
    public VirtualTime time() {
        return parts.time();
    }

    /** Faults of the store and of processes. */
    public CacheFaults faults() {
        return parts.faults();
    }

    /** The reads and loads of a cache on the node of this test, since the begin of the test method. */
    public CacheNumbers numbers(String prefix) {
        return parts.calls().numbers(prefix, parts.elapsed());
    }

    @Override
    public EasyCacheAssert assertThat() {
        return new EasyCacheAssert(this);
    }

    /** The entry of a key, read past all faults. */
    FoundEntry found(CacheKey<?> key) {
        return FoundEntry.of(key, parts.memory(key.spec().clusterId()), codec);
    }

    static CacheKey<?> key(String prefix, Object... parts) {
        return CacheSpec.of(prefix, Object.class).keyOf(Arrays.asList(parts));
    }

    /**
     * Ends all faults, other nodes and scheduled tasks, drops refreshes that have not run, removes all entries and counts, and
     * sets the clock to the present time.
     */
    public void reset() {
        parts.faults().heal();
        parts.dropRefreshes();
        parts.time().cancelScheduled();
        endOtherNodes();
        try {
            if (!parts.sharesTime()) {
                parts.time().advance(RECOVERY);
            }
        } finally {
            engine.clearLocally();
            parts.clear();
            parts.startAtPresent();
        }
    }

    private void endOtherNodes() {
        others.forEach(node -> {
            node.close();
            parts.removeNode(node);
        });
        others.clear();
    }

    /** Ends other nodes. The cache of an application goes on, because other tests share it. */
    @Override
    public void close() {
        endOtherNodes();
        if (inTransaction.isEmpty()) {
            engine.close();
            parts.removeNode(engine);
        }
    }
}
