package io.easykit.cache.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.Outcome;
import io.easykit.cache.store.EntryStore.Snapshot;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisCluster;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class RedisEntryStoreIntegrationTests {

    private static final Duration PATIENT = Duration.ofSeconds(30);
    private static final Duration IMPATIENT = Duration.ofMillis(200);
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration LIFE = Duration.ofMinutes(5);
    private static final Envelope VALUE = Envelope.wrap("value".getBytes(UTF_8), 0);

    private final CacheSpec<String> spec = CacheSpec.of("store", String.class);
    private final CacheKey<String> key = spec.key(1);
    private final List<LettuceConnectionFactory> factories = new ArrayList<>();

    /** How the store talks to Redis. */
    enum Client {
        LETTUCE {
            @Override
            RedisConnectionFactory of(LettuceConnectionFactory lettuce) {
                return lettuce;
            }
        },
        /** A connection factory of an unknown class. */
        ANY_OTHER {
            @Override
            RedisConnectionFactory of(LettuceConnectionFactory lettuce) {
                return (RedisConnectionFactory) Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {RedisConnectionFactory.class},
                        (proxy, method, arguments) -> {
                            try {
                                return method.invoke(lettuce, arguments);
                            } catch (InvocationTargetException thrown) {
                                throw thrown.getCause();
                            }
                        });
            }
        };

        abstract RedisConnectionFactory of(LettuceConnectionFactory lettuce);
    }

    @BeforeEach
    void flush() {
        RedisServer.shared().flush();
    }

    @AfterEach
    void close() {
        factories.forEach(LettuceConnectionFactory::destroy);
    }

    @ParameterizedTest
    @EnumSource(Client.class)
    void bringsAValueRoundTheWholeProtocol(Client client) {
        RedisEntryStore store = store(client);
        store.loadScripts();
        assertThat(store.read(key, 0)).isEqualTo(Snapshot.NOTHING);

        storeValue(store, key);
        assertThat(text(store.read(key, 0))).isEqualTo("value");
        assertThat(store.read(key, 0).fresh()).isTrue();
        assertThat(store.fetch(key, 0).outcome()).isEqualTo(Outcome.SUCCESS);

        store.prepare(List.of(key), "update", LEASE);
        assertThat(store.read(key, 0).updating()).isTrue();
        assertThat(((Fetched.Served) store.fetch(key, 0)).stale()).isTrue();

        store.invalidate(List.of(key), "update");
        Fetched old = store.fetch(key, 0);
        assertThat(old.outcome()).isEqualTo(Outcome.SUCCESS_NEED_QUERY);
        assertThat(store.read(key, 0).loading()).isTrue();
        store.releaseLoad(key, leaseOf(old));
        assertThat(store.read(key, 0).loading()).isFalse();

        store.removeUnreadable(key, VALUE);
        assertThat(store.read(key, 0)).isEqualTo(Snapshot.NOTHING);
    }

    @ParameterizedTest
    @EnumSource(Client.class)
    void loaderThatWasOvertakenByAnUpdateIsRejected(Client client) {
        RedisEntryStore store = store(client);
        Fetched before = store.fetch(key, 0);
        store.prepare(List.of(key), "update", LEASE);
        store.invalidate(List.of(key), "update");

        assertThat(store.store(key, leaseOf(before), VALUE, LIFE)).isFalse();
        assertThat(store.read(key, 0)).isEqualTo(Snapshot.NOTHING);
    }

    @ParameterizedTest
    @EnumSource(Client.class)
    void removesAKeyOfAnotherTypeAndRepeatsTheCall(Client client) {
        RedisEntryStore store = store(client);
        Fetched fetched = store.fetch(key, 0);

        beforeEachCallThereIsAText(
                () -> assertThat(store.read(key, 0)).isEqualTo(Snapshot.NOTHING),
                () -> assertThat(store.fetch(key, 0).outcome()).isEqualTo(Outcome.NEED_QUERY),
                () -> assertThat(store.store(key, leaseOf(fetched), VALUE, LIFE))
                        .isFalse(),
                () -> store.releaseLoad(key, leaseOf(fetched)),
                () -> store.prepare(List.of(key), "update", LEASE),
                () -> store.invalidate(List.of(key), "update"),
                () -> store.removeUnreadable(key, VALUE));
    }

    private void beforeEachCallThereIsAText(Runnable... calls) {
        for (Runnable call : calls) {
            onShared(redis -> redis.command("SET", "ec:" + key.name(), "text"));
            call.run();
            onShared(redis ->
                    assertThat(redis.command("TYPE", "ec:" + key.name())).isIn("hash", "none"));
        }
    }

    @ParameterizedTest
    @EnumSource(Client.class)
    void doesNotNoticeThatTheScriptsAreFlushed(Client client) {
        RedisEntryStore store = store(client);
        flushScripts();
        Fetched fetched = store.fetch(key, 0);
        flushScripts();
        assertThat(store.store(key, leaseOf(fetched), VALUE, LIFE)).isTrue();
        flushScripts();
        store.prepare(List.of(key, spec.key(2), spec.key(3)), "update", LEASE);
        flushScripts();
        store.invalidate(List.of(key, spec.key(2), spec.key(3)), "update");
        flushScripts();
        store.releaseLoad(key, leaseOf(fetched));
        flushScripts();
        onShared(redis -> redis.command("SET", "ec:" + spec.key(2).name(), "text"));
        assertThat(store.read(spec.key(2), 0)).isEqualTo(Snapshot.NOTHING);

        assertThat(text(store.read(key, 0))).isEqualTo("value");
    }

    @Test
    void invalidationsOfKeysThatWereNeverCachedLeaveTheKeyspaceAsItWas() {
        RedisEntryStore store = store(Client.LETTUCE);
        storeValue(store, key);

        for (int batch = 0; batch < 20; batch++) {
            int first = 100 + batch * 5_000;
            store.invalidate(
                    IntStream.range(first, first + 5_000).mapToObj(spec::key).toList(), "");
        }

        onShared(redis -> assertThat(redis.command("DBSIZE")).isEqualTo(1L));
    }

    @Test
    void takesAValueOfAnOlderEpochForNone() {
        RedisEntryStore store = store(Client.LETTUCE);
        storeValue(store, key);

        assertThat(store.read(key, 1).value()).isNull();
        assertThat(store.fetch(key, 1).outcome()).isEqualTo(Outcome.NEED_QUERY);
    }

    @Test
    void neverGivesAnInvalidatedValueToAStrictReader() {
        RedisEntryStore store = store(Client.LETTUCE);
        storeValue(store, key);
        store.invalidate(List.of(key), "");
        CacheKey<String> strict = spec.withOptions(
                        CacheOptions.builder().consistency(Consistency.CP).build())
                .key(1);

        assertThat(store.read(strict, 0).fresh()).isFalse();
        assertThat(store.fetch(strict, 0).outcome()).isEqualTo(Outcome.NEED_QUERY);
    }

    @ParameterizedTest
    @EnumSource(Client.class)
    void foreignFieldsAreNoValue(Client client) {
        onShared(redis -> redis.command("HSET", "ec:" + key.name(), "", "nameless", "other", "x"));
        RedisEntryStore store = store(client);

        assertThat(store.read(key, 0).fresh()).isFalse();
        assertThat(store.read(key, 0).value()).isNull();
        storeValue(store, key);
        assertThat(text(store.read(key, 0))).isEqualTo("value");
    }

    @ParameterizedTest
    @EnumSource(Client.class)
    void carriesAValueOfManyMegabytes(Client client) {
        RedisEntryStore store = store(client);
        byte[] large = new byte[8_000_000];
        Arrays.fill(large, (byte) 7);

        store.store(key, leaseOf(store.fetch(key, 0)), Envelope.wrap(large, 0), LIFE);

        assertThat(Objects.requireNonNull(store.read(key, 0).value()).toBytes()).isEqualTo(large);
    }

    @Test
    void worksOnACluster() {
        try (RedisCluster cluster = RedisCluster.start()) {
            LettuceConnectionFactory factory = started(new LettuceConnectionFactory(
                    new RedisClusterConfiguration(List.of(cluster.addresses().split(",", -1)))));
            assertThat(new SpringCommands(factory).hasOneClock())
                    .as("of three masters")
                    .isFalse();
            for (Client client : Client.values()) {
                RedisEntryStore store = new RedisEntryStore(client.of(factory), PATIENT);
                List<CacheKey<String>> keys = IntStream.range(0, 30)
                        .mapToObj(i -> spec.key(client, i))
                        .toList();
                store.loadScripts();
                keys.forEach(each -> storeValue(store, each));
                assertThat(keys).allSatisfy(each -> assertThat(text(store.read(each, 0)))
                        .isEqualTo("value"));

                store.prepare(keys, "update", LEASE);
                store.invalidate(keys, "update");
                assertThat(keys).allSatisfy(each -> assertThat(((Fetched.Served) store.fetch(each, 0)).stale())
                        .isTrue());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Client.class)
    void pausedRedisIsIllAndCostsOneTimeout(Client client) {
        try (RedisServer server = RedisServer.start()) {
            Duration patience = Duration.ofSeconds(1);
            RedisEntryStore store = store(client, server.host(), server.port(), patience);
            List<CacheKey<String>> keys =
                    IntStream.range(0, 20).mapToObj(spec::key).toList();
            awaitAnswer(store);
            server.pause();

            long began = System.nanoTime();
            assertIll(() -> store.invalidate(keys, "update"));
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(patience.multipliedBy(10));

            server.resume();
            awaitAnswer(store);
        }
    }

    @ParameterizedTest
    @EnumSource(Client.class)
    void restartedRedisIsIllAndThenKnowsNoScript(Client client) {
        try (RedisServer server = RedisServer.start()) {
            RedisEntryStore store = store(client, server.host(), server.port(), IMPATIENT);
            awaitAnswer(store);
            server.kill();

            assertIll(() -> store.read(key, 0));
            assertIll(() -> store.fetch(key, 0));

            server.restart();
            awaitAnswer(store);
        }
    }

    @ParameterizedTest
    @EnumSource(Client.class)
    void recoversWhenTheFirstConnectionWasRefused(Client client) {
        try (RedisServer server = RedisServer.start()) {
            server.kill();
            RedisEntryStore store = store(client, server.host(), server.port(), PATIENT);
            assertIll(() -> store.read(key, 0));
            assertIll(store::loadScripts);

            server.restart();
            awaitAnswer(store);
        }
    }

    @ParameterizedTest
    @EnumSource(Client.class)
    void refusedPasswordIsIll(Client client) {
        try (RedisServer server = RedisServer.start("--requirepass", "secret")) {
            assertIll(() -> store(client, server.host(), server.port(), PATIENT).read(key, 0));
        }
    }

    @ParameterizedTest
    @EnumSource(Client.class)
    void readOnlyReplicaIsIll(Client client) {
        try (RedisServer master = RedisServer.start();
                RedisServer replica = RedisServer.start()) {
            replica.replicaOf(master);
            RedisEntryStore store = store(client, replica.host(), replica.port(), PATIENT);

            assertIll(() -> store.fetch(key, 0));
            assertIll(() -> store.invalidate(List.of(key), ""));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"4294967295", "9999999999", "-1", "1e9", "99999999999999999999"})
    void takesNothingForAnEpochThatHasMoreThanFourBytes(String garbage) {
        RedisEntryStore store = store(Client.LETTUCE);
        onShared(redis -> redis.command("HSET", "ec:epochs", "store", garbage));

        assertThat(store.epochs(0).raised()).isEmpty();
        assertThat(store.raiseEpochs(0, Map.of("store", 0L), "").getOrDefault("store", 0L))
                .isLessThan(4_294_967_295L);
    }

    /** Lua passes at most 8,000 words to a command. */
    @Test
    void raisesAndClearsAnyNumberOfPrefixesAtOnce() {
        RedisEntryStore store = store(Client.LETTUCE);
        Map<String, Long> known =
                IntStream.range(0, 9_000).boxed().collect(Collectors.toMap(number -> "tenant" + number, number -> 0L));

        store.prepareClear(0, known.keySet(), "token", Duration.ofMinutes(1));
        assertThat(store.epochs(0).clearing()).hasSameSizeAs(known.keySet());

        assertThat(store.raiseEpochs(0, known, "token")).hasSameSizeAs(known);
        assertThat(store.epochs(0).raised()).hasSameSizeAs(known);
        assertThat(store.epochs(0).clearing()).isEmpty();
    }

    @Test
    void errorOfOneCommandIsNoIllness() {
        try (RedisServer server = RedisServer.start()) {
            RedisEntryStore store = store(Client.LETTUCE, server.host(), server.port(), PATIENT);
            storeValue(store, key);
            try (RawRedis redis = server.connect()) {
                redis.command("ACL", "SETUSER", "default", "-hgetall");
            }

            assertThatExceptionOfType(StoreUnavailableException.class)
                    .isThrownBy(() -> store.read(key, 0))
                    .withMessageContaining("NOPERM")
                    .matches(failure -> !failure.isServerFailure());
        }
    }

    @Test
    void goesOnWhenTheFactoryWasStoppedAndStarted() {
        LettuceConnectionFactory factory =
                factory(RedisServer.shared().host(), RedisServer.shared().port(), PATIENT);
        RedisEntryStore store = new RedisEntryStore(factory, PATIENT);
        storeValue(store, key);

        factory.stop();
        assertIll(() -> store.read(key, 0));
        factory.start();

        assertThat(text(store.read(key, 0))).isEqualTo("value");
    }

    @Test
    void takesAFactoryThatDoesNotShareItsConnection() {
        LettuceConnectionFactory factory =
                factory(RedisServer.shared().host(), RedisServer.shared().port(), PATIENT);
        factory.setShareNativeConnection(false);
        RedisEntryStore store = new RedisEntryStore(factory, PATIENT);

        storeValue(store, key);

        assertThat(text(store.read(key, 0))).isEqualTo("value");
    }

    @Test
    void whatNobodyWaitsForIsNotSentWhenTheConnectionStands() {
        try (TcpProxy line = TcpProxy.to(RedisServer.shared())) {
            line.freeze();
            RedisEntryStore store = store(Client.LETTUCE, line.host(), line.port(), IMPATIENT);
            assertIll(() -> store.prepare(List.of(key), "refused", LEASE));

            line.heal();
            awaitAnswer(store);

            onShared(redis ->
                    assertThat(redis.command("EXISTS", "ec:" + key.name())).isEqualTo(0L));
        }
    }

    @Test
    void fetchWhoseReplyIsLostIsGrantedTheLoadLeaseByItsRepetition() {
        try (TcpProxy line = TcpProxy.to(RedisServer.shared())) {
            RedisEntryStore store = store(Client.LETTUCE, line.host(), line.port(), PATIENT);
            store.loadScripts();
            line.dropNextReply();

            Fetched fetched = store.fetch(key, 0);

            assertThat(fetched.outcome()).isEqualTo(Outcome.NEED_QUERY);
            assertThat(store.store(key, leaseOf(fetched), VALUE, LIFE)).isTrue();
        }
    }

    @Test
    void storeWhoseReplyIsLostIsRejectedWhenRepeatedAndTheValueIsThere() {
        try (TcpProxy line = TcpProxy.to(RedisServer.shared())) {
            RedisEntryStore store = store(Client.LETTUCE, line.host(), line.port(), PATIENT);
            store.loadScripts();
            Fetched fetched = store.fetch(key, 0);
            line.dropNextReply();

            assertThat(store.store(key, leaseOf(fetched), VALUE, LIFE)).isFalse();

            assertThat(text(store.read(key, 0))).isEqualTo("value");
        }
    }

    private static LoadLease leaseOf(Fetched fetched) {
        return ((Fetched.Leased) fetched).lease();
    }

    private static void storeValue(RedisEntryStore store, CacheKey<String> key) {
        Fetched fetched = store.fetch(key, 0);
        assertThat(fetched.outcome()).isEqualTo(Outcome.NEED_QUERY);
        assertThat(store.store(key, leaseOf(fetched), VALUE, LIFE)).isTrue();
    }

    /** Of a key that no test speaks of. */
    private void awaitAnswer(RedisEntryStore store) {
        await().atMost(PATIENT).ignoreExceptions().until(() -> store.fetch(spec.key("any"), 0) != null);
    }

    private static void assertIll(Runnable call) {
        assertThatExceptionOfType(StoreUnavailableException.class)
                .isThrownBy(call::run)
                .matches(StoreUnavailableException::isServerFailure);
    }

    private static String text(Snapshot seen) {
        return new String(Objects.requireNonNull(seen.value()).toBytes(), UTF_8);
    }

    private static void flushScripts() {
        onShared(redis -> redis.command("SCRIPT", "FLUSH"));
    }

    private static void onShared(Consumer<RawRedis> look) {
        try (RawRedis redis = RedisServer.shared().connect()) {
            look.accept(redis);
        }
    }

    private RedisEntryStore store(Client client) {
        return store(client, RedisServer.shared().host(), RedisServer.shared().port(), PATIENT);
    }

    private RedisEntryStore store(Client client, String host, int port, Duration timeout) {
        return new RedisEntryStore(client.of(factory(host, port, timeout)), timeout);
    }

    private LettuceConnectionFactory factory(String host, int port, Duration timeout) {
        return started(new LettuceConnectionFactory(
                new RedisStandaloneConfiguration(host, port),
                LettuceClientConfiguration.builder().commandTimeout(timeout).build()));
    }

    private LettuceConnectionFactory started(LettuceConnectionFactory factory) {
        factory.afterPropertiesSet();
        factory.start();
        factories.add(factory);
        return factory;
    }
}
