package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.Consistency;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.DegradedOptions.ApUpdates;
import io.easykit.cache.DegradedOptions.CpReads;
import io.easykit.cache.DegradedOptions.CpUpdates;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.redis.DedicatedConnections;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Node A loses its Redis in each possible way; node B shows the effect on other nodes. */
class DegradeIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofMillis(250);
    private static final Duration PROBE_INTERVAL = Duration.ofMillis(50);
    private static final int LOADS = 4;
    private static final int JOURNAL = 20;

    /** Time that a busy machine may add to any wait. */
    private static final Duration SLACK = Duration.ofSeconds(8);

    private final RedisServer redis = RedisServer.start("--appendonly", "yes", "--appendfsync", "always");
    private final AtomicReference<String> database = new AtomicReference<>("old");
    private final List<AutoCloseable> opened = new ArrayList<>();

    @AutoClose("shutdownNow")
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : opened) {
            one.close();
        }
        redis.close();
    }

    @Test
    void goesOnWhileRedisIsDeadAndComesBackWithIt() throws Exception {
        EasyCacheEngine a = node(redis.host(), redis.port());
        a.fetch(key(Consistency.AP, 1), database::get);
        redis.kill();
        readUntilUnavailable(a, Consistency.AP);

        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<Future<String>> reads = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            CacheKey<String> key = key(i % 2 == 0 ? Consistency.AP : Consistency.CP, "limited" + i);
            reads.add(threads.submit(() -> a.fetch(key, () -> {
                most.accumulateAndGet(running.incrementAndGet(), Math::max);
                Thread.onSpinWait();
                running.decrementAndGet();
                return "value";
            })));
        }
        for (Future<String> read : reads) {
            assertThat(read.get()).isEqualTo("value");
        }
        assertThat(most.get()).isBetween(1, LOADS);
        assertThat(median(200, i -> a.fetch(key(Consistency.CP, "timed" + i), () -> "value")))
                .isLessThan(Duration.ofMillis(2));

        redis.restart();
        awaitAvailable(a);
        assertThat(a.fetch(key(Consistency.AP, "again"), () -> "value")).isEqualTo("value");
        assertThat(a.fetch(key(Consistency.AP, "again"), () -> "never")).isEqualTo("value");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void waitsForAPausedRedisNoLongerThanTheTimeoutAndThenNotAtAll(Consistency consistency) throws Exception {
        EasyCacheEngine a = node(redis.host(), redis.port());
        a.fetch(key(consistency, 1), database::get);
        redis.pause();
        Duration longest = Duration.ZERO;
        for (int i = 0; i < 100 && stateOf(a) == State.AVAILABLE; i++) {
            CacheKey<String> key = key(consistency, "paused" + i);
            Duration took = timed(() -> a.fetch(key, () -> "value"));
            longest = took.compareTo(longest) > 0 ? took : longest;
        }
        assertThat(longest).isBetween(TIMEOUT.minusMillis(50), TIMEOUT.plus(SLACK));
        assertThat(median(200, i -> a.fetch(key(consistency, "unpaused" + i), () -> "value")))
                .isLessThan(Duration.ofMillis(2));
        redis.resume();
        awaitAvailable(a);
    }

    @Test
    void touchesNoSocketWhileItIsForcedToGoWithout() {
        EasyCacheEngine a = node(redis.host(), redis.port());
        a.fetch(key(Consistency.AP, 1), database::get);
        Objects.requireNonNull(a.availability("default")).force(State.UNAVAILABLE);
        // Calls that were sent before may arrive late.
        await().untilAsserted(() -> {
            long before = commands();
            for (int i = 0; i < JOURNAL; i++) {
                a.fetch(key(Consistency.AP, i), database::get);
                a.fetch(key(Consistency.CP, i), database::get);
                a.invalidate(key(Consistency.AP, i));
            }
            assertThat(commands()).isEqualTo(before + 1);
        });
        Objects.requireNonNull(a.availability("default")).reset();
        awaitAvailable(a);
        assertThat(a.undelivered("default")).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2 * JOURNAL})
    void showsNoOldValueOnAnotherNodeAfterANodeThatWasCutOffIsBack(int updates) {
        TcpProxy line = opened(TcpProxy.to(redis));
        EasyCacheEngine a = node(line.host(), line.port());
        EasyCacheEngine b = node(redis.host(), redis.port());
        for (int i = 0; i < updates; i++) {
            assertThat(b.fetch(key(Consistency.AP, i), database::get)).isEqualTo("old");
        }
        line.cut();
        readUntilUnavailable(a, Consistency.AP);
        database.set("new");
        for (int i = 0; i < updates; i++) {
            a.invalidate(key(Consistency.AP, i));
        }
        assertThat(b.fetch(key(Consistency.AP, 0), database::get)).isEqualTo("old");
        line.heal();
        awaitAvailable(a);
        for (int i = 0; i < updates; i++) {
            assertThat(b.fetch(key(Consistency.AP, i), database::get)).isEqualTo("new");
            assertThat(a.fetch(key(Consistency.AP, i), database::get)).isEqualTo("new");
        }
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void servesTheCallerWhoseRedisDiesBetweenFetchAndStore(Consistency consistency) {
        EasyCacheEngine a = node(redis.host(), redis.port());
        EasyCacheEngine b = node(redis.host(), redis.port());
        CacheKey<String> key = key(consistency, 1);
        assertThat(a.fetch(key, () -> {
                    redis.kill();
                    return database.get();
                }))
                .isEqualTo("old");
        database.set("new");
        a.invalidate(key);
        redis.restart();
        await().until(() -> a.undelivered("default") == 0 && stateOf(a) == State.AVAILABLE);
        await().until(() -> stateOf(b) == State.AVAILABLE);
        assertThat(b.fetch(key, database::get)).isEqualTo("new");
        assertThat(a.fetch(key, database::get)).isEqualTo("new");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void endsTheUpdateWhoseRedisDiesBetweenItsPhases(Consistency consistency) {
        EasyCacheEngine a = node(redis.host(), redis.port());
        EasyCacheEngine b = node(redis.host(), redis.port());
        CacheKey<String> key = key(consistency, 1);
        assertThat(b.fetch(key, database::get)).isEqualTo("old");
        String result = a.update(List.of(key), () -> {
            redis.kill();
            database.set("new");
            return "done";
        });
        assertThat(result).isEqualTo("done");
        redis.restart();
        await().until(() -> a.undelivered("default") == 0 && stateOf(a) == State.AVAILABLE);
        await().until(() -> stateOf(b) == State.AVAILABLE);
        assertThat(b.fetch(key, database::get)).isEqualTo("new");
        await().untilAsserted(() -> {
            b.fetch(key, database::get);
            assertThat(fields(key)).containsExactly("v" + key.spec().fingerprint());
        });
    }

    @Test
    void repeatsWhatAPromotedReplicaNeverHeard() {
        RedisServer replica = opened(RedisServer.start());
        replica.replicaOf(redis);
        TcpProxy front = opened(TcpProxy.to(redis));
        EasyCacheEngine a = node(front.host(), front.port());
        EasyCacheEngine b = node(front.host(), front.port());
        CacheKey<String> key = key(Consistency.CP, 1);
        assertThat(b.fetch(key, database::get)).isEqualTo("old");
        await().until(() -> exists(replica, key));

        replica.promote();
        database.set("new");
        a.update(List.of(key), () -> null);
        assertThat(exists(redis, key)).isFalse();
        redis.kill();
        assertThat(exists(replica, key)).isTrue();
        front.retarget(replica);

        await().until(() -> !exists(replica, key));
        await().until(() -> stateOf(a) == State.AVAILABLE && stateOf(b) == State.AVAILABLE);
        assertThat(b.fetch(key, database::get)).isEqualTo("new");
        assertThat(a.fetch(key, database::get)).isEqualTo("new");
    }

    @Test
    void leavesAMasterThatHasBecomeAReplica() {
        RedisServer master = opened(RedisServer.start());
        EasyCacheEngine a = node(redis.host(), redis.port());
        CacheKey<String> key = key(Consistency.AP, 1);
        a.fetch(key, database::get);
        redis.replicaOf(master);
        database.set("new");
        a.invalidate(key);
        await().until(() -> stateOf(a) == State.UNAVAILABLE);
        assertThat(a.fetch(key, database::get)).isEqualTo("new");
        redis.promote();
        awaitAvailable(a);
        assertThat(a.undelivered("default")).isZero();
    }

    @Test
    void doesNotFlapWithARedisThatIsFull() {
        List<State> changes = new CopyOnWriteArrayList<>();
        EasyCacheEngine a = started(builder(redis.host(), redis.port())
                .circuitBreaker(new CircuitBreakerOptions(Duration.ofSeconds(10), 0.2, 5, PROBE_INTERVAL, 3))
                .listener(new CacheListener() {
                    @Override
                    public void onAvailability(String clusterId, State state) {
                        changes.add(state);
                    }
                }));
        config("maxmemory", "1");
        readUntilUnavailable(a, Consistency.AP);
        long probes = calls("evalsha");
        await().until(() -> calls("evalsha") > probes + 10);
        assertThat(changes).containsExactly(State.UNAVAILABLE);
        config("maxmemory", "0");
        awaitAvailable(a);
    }

    /** It prepares nothing, but drops what it has. */
    @Test
    void deliversAllKeysOfAnUpdateToARedisThatIsFull() {
        EasyCacheEngine a = node(redis.host(), redis.port());
        EasyCacheEngine b = node(redis.host(), redis.port());
        List<CacheKey<String>> keys = List.of(key(Consistency.AP, 1), key(Consistency.AP, 2));
        keys.forEach(key -> assertThat(b.fetch(key, database::get)).isEqualTo("old"));
        config("maxmemory", "1");

        a.update(keys, () -> {
            database.set("new");
            return "done";
        });

        await().untilAsserted(() ->
                keys.forEach(key -> assertThat(b.fetch(key, database::get)).isEqualTo("new")));
        await().until(() -> a.undelivered("default") == 0);
        long probes = calls("evalsha");
        await().until(() -> calls("evalsha") > probes + 10);
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
    }

    @Test
    void leavesAConnectionThatLeadsNowhere() {
        TcpProxy line = opened(TcpProxy.to(redis));
        EasyCacheEngine a = node(line.host(), line.port());
        a.fetch(key(Consistency.AP, 1), database::get);
        line.strand();
        readUntilUnavailable(a, Consistency.AP);
        awaitAvailable(a);
        assertThat(a.fetch(key(Consistency.AP, 1), () -> "never")).isEqualTo("old");
    }

    @Test
    void startsWithoutRedisAndRecoversByItself() {
        TcpProxy line = opened(TcpProxy.to(redis));
        line.cut();
        EasyCacheEngine a = node(line.host(), line.port());
        readUntilUnavailable(a, Consistency.CP);
        line.heal();
        awaitAvailable(a);
        a.fetch(key(Consistency.CP, 1), () -> "value");
        assertThat(a.fetch(key(Consistency.CP, 1), () -> "never")).isEqualTo("value");
    }

    @Test
    void doesNotNoticeInOneClusterThatAnotherIsDead() throws Exception {
        RedisServer other = opened(RedisServer.start());
        List<String> changes = new CopyOnWriteArrayList<>();
        EasyCacheEngine a = started(builder(redis.host(), redis.port())
                .store("trade", store(other.host(), other.port()))
                .listener(new CacheListener() {
                    @Override
                    public void onAvailability(String clusterId, State state) {
                        changes.add(clusterId + " " + state);
                    }
                }));
        CacheKey<String> here = key(Consistency.AP, 1);
        CacheSpec<String> there = CacheSpec.of("stock", String.class).withClusterId("trade");
        a.fetch(here, database::get);
        a.fetch(there.key(1), database::get);
        Duration before = median(300, i -> a.fetch(here, () -> "never"));
        other.kill();
        Duration during = median(300, i -> {
            threads.execute(() -> a.fetch(there.key(i), database::get));
            return a.fetch(here, () -> "never");
        });
        await().until(() -> changes.contains("trade UNAVAILABLE"));
        assertThat(changes).containsExactly("trade UNAVAILABLE");
        assertThat(during).isLessThan(before.multipliedBy(5).plusMillis(5));
        assertThat(a.fetch(here, () -> "never")).isEqualTo("old");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SET %s text",
                "LPUSH %s element",
                "HSET %s v garbage",
                "HSET %s v 0123456789\u0007\u0000unknown-format",
                "HSET %s i garbage s garbage f garbage"
            })
    void healsWhatNobodyCanReadAndStaysAvailable(String spoil) {
        EasyCacheEngine a = node(redis.host(), redis.port());
        try (RawRedis raw = redis.connect()) {
            for (int i = 0; i < 30; i++) {
                CacheKey<String> key = key(Consistency.AP, i);
                raw.command(spoil.formatted("ec:" + key.name()).split(" "));
                assertThat(a.fetch(key, database::get)).isEqualTo("old");
                assertThat(a.fetch(key, () -> "never")).isEqualTo("old");
            }
            for (String epochs : List.of("HSET ec:epochs name garbage other 99999999999", "SET ec:epochs text")) {
                raw.command("DEL", "ec:epochs");
                raw.command(epochs.split(" "));
                assertThat(node(redis.host(), redis.port()).fetch(key(Consistency.AP, 1), () -> "value"))
                        .isIn("old", "value");
                long looks = calls("hgetall");
                await().until(() -> calls("hgetall") > looks + 5);
                a.invalidate(key(Consistency.AP, 1));
                assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
            }
        }
    }

    @Test
    void refusesStrongUpdatesAndFailsStrongReadsWithinTheTimeout() {
        EasyCacheEngine a = started(builder(redis.host(), redis.port())
                .degraded(new DegradedOptions(
                        Duration.ofSeconds(5), LOADS, CpReads.FAIL, CpUpdates.REFUSE, ApUpdates.PROCEED, JOURNAL)));
        CacheKey<String> key = key(Consistency.CP, 1);
        a.fetch(key, database::get);
        redis.pause();
        AtomicInteger runs = new AtomicInteger();
        Duration took = timed(() -> {
            assertThatExceptionOfType(CacheUnavailableException.class)
                    .isThrownBy(() -> a.fetch(key, () -> {
                        runs.incrementAndGet();
                        return "never";
                    }));
            return null;
        });
        assertThat(took).isLessThan(TIMEOUT.plus(SLACK));
        assertThatExceptionOfType(CacheUnavailableException.class)
                .isThrownBy(() -> a.update(List.of(key), runs::incrementAndGet));
        assertThat(runs).hasValue(0);
        redis.resume();
        await().until(() -> a.undelivered("default") == 0 && stateOf(a) == State.AVAILABLE);
        assertThat(a.fetch(key, database::get)).isEqualTo("old");
    }

    private void readUntilUnavailable(EasyCacheEngine cache, Consistency consistency) {
        State state = stateOf(cache);
        for (int i = 0; i < 1000 && state == State.AVAILABLE; i++) {
            assertThat(cache.fetch(key(consistency, "any" + i), () -> "value")).isEqualTo("value");
            state = stateOf(cache);
        }
        // It may be available again by now.
        assertThat(state).isEqualTo(State.UNAVAILABLE);
    }

    private static void awaitAvailable(EasyCacheEngine cache) {
        await().until(() -> stateOf(cache) == State.AVAILABLE);
    }

    private static State stateOf(EasyCacheEngine cache) {
        return Objects.requireNonNull(cache.availability("default")).state();
    }

    private static CacheKey<String> key(Consistency consistency, Object part) {
        return CacheSpec.of(consistency.name(), String.class)
                .withOptions(CacheOptions.builder().consistency(consistency).build())
                .key(part);
    }

    private static boolean exists(RedisServer server, CacheKey<String> key) {
        try (RawRedis raw = server.connect()) {
            return Objects.equals(raw.command("EXISTS", "ec:" + key.name()), 1L);
        }
    }

    private List<String> fields(CacheKey<String> key) {
        try (RawRedis raw = redis.connect()) {
            Collection<?> names = (Collection<?>) Objects.requireNonNull(raw.command("HKEYS", "ec:" + key.name()));
            return names.stream().map(name -> RawRedis.text((byte[]) name)).toList();
        }
    }

    /** How many commands Redis has run, all clients' together. */
    private long commands() {
        try (RawRedis raw = redis.connect()) {
            return Long.parseLong(raw.info("stats").get("total_commands_processed"));
        }
    }

    private long calls(String command) {
        try (RawRedis raw = redis.connect()) {
            String stats = raw.info("commandstats").get("cmdstat_" + command);
            return Long.parseLong(stats.substring(stats.indexOf('=') + 1, stats.indexOf(',')));
        }
    }

    private void config(String name, String value) {
        try (RawRedis raw = redis.connect()) {
            raw.command("CONFIG", "SET", name, value);
        }
    }

    private static Duration timed(Callable<?> work) {
        long began = System.nanoTime();
        try {
            work.call();
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
        return Duration.ofNanos(System.nanoTime() - began);
    }

    /** Of many calls: what one takes unless the machine is busy with something else. */
    private static Duration median(int calls, NumberedCall call) {
        List<Duration> all = new ArrayList<>();
        for (int i = 0; i < calls; i++) {
            int number = i;
            all.add(timed(() -> call.call(number)));
        }
        return all.stream().sorted().toList().get(calls / 2);
    }

    private interface NumberedCall {
        Object call(int number);
    }

    private EasyCacheEngine node(String host, int port) {
        return started(builder(host, port));
    }

    private EasyCacheEngine.Builder builder(String host, int port) {
        return EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, store(host, port))
                .localLevels(() -> new CaffeineLocalLevel(1000))
                .circuitBreaker(new CircuitBreakerOptions(Duration.ofSeconds(10), 0.5, 5, PROBE_INTERVAL, 3))
                .degraded(new DegradedOptions(
                        Duration.ofSeconds(5), LOADS, CpReads.BYPASS, CpUpdates.PROCEED, ApUpdates.PROCEED, JOURNAL));
    }

    private EasyCacheEngine started(EasyCacheEngine.Builder builder) {
        EasyCacheEngine cache = builder.build();
        opened.add(0, cache::stop);
        return cache;
    }

    private RedisEntryStore store(String host, int port) {
        LettuceConnectionFactory plain = new LettuceConnectionFactory(host, port);
        LettuceConnectionFactory factory = DedicatedConnections.copyOf(plain, TIMEOUT);
        factory.afterPropertiesSet();
        factory.start();
        opened.add(0, factory::destroy);
        RedisEntryStore store = new RedisEntryStore(factory, TIMEOUT);
        warmUp(store);
        return store;
    }

    /** The first connection of a JVM is slow; a test is not about that. */
    private static void warmUp(RedisEntryStore store) {
        for (int i = 0; i < 10; i++) {
            try {
                store.loadScripts();
                return;
            } catch (RuntimeException away) {
                assertThat(away).hasMessageContaining("Redis");
            }
        }
    }

    private <T extends AutoCloseable> T opened(T resource) {
        opened.add(resource);
        return resource;
    }
}
