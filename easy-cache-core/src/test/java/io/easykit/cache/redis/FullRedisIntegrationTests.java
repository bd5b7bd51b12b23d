package io.easykit.cache.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.Partitions;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.redis.DedicatedConnections;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Each script on a Redis that is full and evicts nothing: it takes all that ends something, and nothing else. */
class FullRedisIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Envelope VALUE = Envelope.wrap("value".getBytes(UTF_8), 0);

    private static RedisServer server;

    private final CacheSpec<String> spec = CacheSpec.of("name", String.class);
    private final CacheKey<String> key = spec.key(1);
    private LettuceConnectionFactory factory;
    private RedisEntryStore store;

    @BeforeAll
    static void startServer() {
        server = RedisServer.start("--maxmemory-policy", "noeviction");
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void connect() {
        server.flush();
        factory = DedicatedConnections.copyOf(new LettuceConnectionFactory(server.host(), server.port()), TIMEOUT);
        factory.afterPropertiesSet();
        store = new RedisEntryStore(factory, TIMEOUT);
        store.loadScripts();
    }

    @AfterEach
    void makeRoom() {
        command("CONFIG", "SET", "maxmemory", "0");
        factory.destroy();
    }

    private static void fill() {
        command("CONFIG", "SET", "maxmemory", "1");
    }

    @Test
    void isRead() {
        cacheValue();
        fill();
        assertThat(store.read(key, 0).fresh()).isTrue();
        assertThat(store.fetch(key, 0)).isInstanceOf(Fetched.Success.class);
        assertThat(store.peek(key, 0, false)).isNotNull();
        assertThat(store.inspect(key).values()).hasSize(1);
    }

    @Test
    void takesAnInvalidationThatKeepsTheValueForTheStaleWindow() {
        cacheValue();
        fill();
        store.invalidate(List.of(key), "");
        assertThat(store.read(key, 0).fresh()).isFalse();
        assertThat(store.peek(key, 0, true)).isNotNull();
    }

    @Test
    void takesTheEndOfAnUpdate() {
        cacheValue();
        store.prepare(List.of(key), "one", LEASE);
        store.prepare(List.of(key), "other", LEASE);
        fill();
        store.invalidate(List.of(key), "one");
        assertThat(store.read(key, 0).updating()).isTrue();
        store.invalidate(List.of(key), "other");
        assertThat(store.read(key, 0).updating()).isFalse();
    }

    @Test
    void takesAnInvalidationThatDropsTheValue() {
        cacheValue();
        fill();
        store.invalidateNow(List.of(key), "");
        assertThat(store.read(key, 0)).isEqualTo(Snapshot.NOTHING);
    }

    @Test
    void takesRaisedEpochsAndTheEndOfClearings() {
        store.prepareClear(0, List.of("cleared"), "token", Duration.ofMillis(1));
        fill();
        assertThat(store.raiseEpochs(0, Map.of("raised", 0L), "")).containsKey("raised");
        assertThat(store.endExpiredClears(0, Map.of("cleared", 0L))).isTrue();
        assertThat(store.epochs(0).raised()).containsOnlyKeys("raised", "cleared");
    }

    @Test
    void takesTheEndOfALoad() {
        LoadLease released = lease(key);
        LoadLease stored = lease(spec.key(2));
        fill();
        store.releaseLoad(key, released);
        assertThat(store.read(key, 0).loading()).isFalse();
        assertThat(store.store(spec.key(2), stored, VALUE, LEASE)).isTrue();
    }

    @Test
    void takesTheRemovalOfAnUnreadableValue() {
        cacheValue();
        fill();
        store.removeUnreadable(key, VALUE);
        assertThat(store.read(key, 0)).isEqualTo(Snapshot.NOTHING);
    }

    /** Or no node would deliver the invalidations in the outbox. */
    @Test
    void takesAWorkLease() {
        fill();
        assertThat(store.takeWorkLease("work", "one", LEASE, true)).isZero();
        assertThat(store.takeWorkLease("work", "other", LEASE, true)).isPositive();
    }

    @Test
    void takesNothingThatBeginsSomething() {
        fill();
        assertFull(() -> store.fetch(key, 0));
        assertFull(() -> store.prepare(List.of(key), "token", LEASE));
        assertFull(() -> store.prepareClear(0, List.of("name"), "token", LEASE));
        assertFull(store::probe);
        assertThat(store.checkWrites(Partitions.ONE, 0)).hasMessageContaining("OOM");
        assertThat(command("DBSIZE")).isEqualTo(0L);
    }

    private static void assertFull(ThrowingCallable call) {
        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(call)
                .withMessageContaining("OOM");
    }

    private void cacheValue() {
        assertThat(store.store(key, lease(key), VALUE, LEASE)).isTrue();
    }

    private LoadLease lease(CacheKey<String> of) {
        return ((Fetched.Leased) store.fetch(of, 0)).lease();
    }

    private static Object command(String... words) {
        try (RawRedis redis = server.connect()) {
            return Objects.requireNonNull(redis.command(words));
        }
    }
}
