package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.engine.LogCapture;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.redis.DedicatedConnections;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Two nodes whose near levels would keep a value for an hour. */
class NearHintsIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final CacheSpec<String> SPEC = CacheSpec.of("name", String.class)
            .withOptions(CacheOptions.builder()
                    .ttl(Duration.ofHours(2))
                    .staleWindow(Duration.ZERO)
                    .nearTtl(Duration.ofHours(1))
                    .build());
    private static final CacheKey<String> KEY = SPEC.key("Ada");

    private static RedisServer server;

    private final List<Runnable> closing = new ArrayList<>();
    private final AtomicReference<String> database = new AtomicReference<>("old");

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void empty() {
        server.flush();
    }

    @AfterEach
    void close() {
        acl("resetchannels", "allchannels");
        closing.forEach(Runnable::run);
    }

    /** A node that does not look for epochs by itself. */
    private EasyCacheEngine node(boolean hints) {
        LettuceConnectionFactory factory =
                new LettuceConnectionFactory(new RedisStandaloneConfiguration(server.host(), server.port()));
        factory.afterPropertiesSet();
        return node(hints, factory);
    }

    private EasyCacheEngine node(boolean hints, LettuceConnectionFactory factory) {
        factory.start();
        RedisEntryStore store = hints
                ? RedisEntryStore.withHints(factory, RedisEntryStore.DEFAULT_KEY_PREFIX, TIMEOUT)
                : new RedisEntryStore(factory, TIMEOUT);
        NearHintSubscription subscription = new NearHintSubscription(factory, store, Duration.ofMillis(200));
        EasyCacheEngine cache = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .nearLevels(() -> CaffeineLocalLevel.near(100, System::nanoTime))
                .build();
        cache.stop();
        subscription.start();
        closing.add(() -> {
            subscription.stop();
            factory.destroy();
        });
        return cache;
    }

    private String read(EasyCacheEngine node) {
        return node.fetch(KEY, database::get);
    }

    private void update(EasyCacheEngine node, String value) {
        node.update(List.of(KEY), () -> {
            database.set(value);
            return null;
        });
    }

    private static Object redis(String... command) {
        try (RawRedis redis = server.connect()) {
            return redis.command(command);
        }
    }

    private static void acl(String... rules) {
        List<String> command = new ArrayList<>(List.of("ACL", "SETUSER", "default"));
        command.addAll(List.of(rules));
        redis(command.toArray(String[]::new));
    }

    private static void awaitSubscriptions(int count) {
        await().atMost(TIMEOUT).until(() -> subscriptions() == count);
    }

    private static long subscriptions() {
        return redis("PUBSUB", "NUMSUB", "ec:near") instanceof List<?> reply ? (Long) reply.get(1) : 0;
    }

    @Test
    void anUpdateOfOneNodeIsSeenByTheOtherAtOnce() {
        EasyCacheEngine here = node(true);
        EasyCacheEngine elsewhere = node(true);
        awaitSubscriptions(2);
        assertThat(read(here)).isEqualTo("old");

        update(elsewhere, "new");

        await().atMost(TIMEOUT).until(() -> read(here).equals("new"));
    }

    @Test
    void aClearedPrefixIsSeenByTheOtherAtOnce() {
        EasyCacheEngine here = node(true);
        EasyCacheEngine elsewhere = node(true);
        awaitSubscriptions(2);
        assertThat(read(here)).isEqualTo("old");

        database.set("new");
        elsewhere.invalidate(List.of(SPEC.all()));

        await().atMost(TIMEOUT).until(() -> read(here).equals("new"));
    }

    /** The driver sees nothing of it, because a subscription sends nothing. */
    @Test
    void aSubscriptionWhoseConnectionIsDeadIsMadeAgain() {
        try (TcpProxy line = TcpProxy.to(server)) {
            EasyCacheEngine here = node(
                    true,
                    DedicatedConnections.copyOf(
                            new LettuceConnectionFactory(new RedisStandaloneConfiguration(line.host(), line.port())),
                            Duration.ofMillis(500)));
            EasyCacheEngine elsewhere = node(true);
            awaitSubscriptions(2);
            line.strand();
            await().atMost(TIMEOUT).until(() -> {
                here.fetch(
                        SPEC.key(System.nanoTime()), () -> "another"); // by which the store leaves the dead connection
                return subscriptions() == 3;
            });
            assertThat(read(here)).isEqualTo("old");

            update(elsewhere, "new");

            await().atMost(TIMEOUT).until(() -> read(here).equals("new"));
        }
    }

    /** During a rolling deploy. */
    @Test
    void aNodeThatSendsNoHintsIsMissed() {
        EasyCacheEngine here = node(true);
        EasyCacheEngine older = node(false);
        awaitSubscriptions(1);
        assertThat(read(here)).isEqualTo("old");

        update(older, "new");

        assertThat(redis("HEXISTS", "ec:name::Ada", "s")).isEqualTo(0L);
        assertThat(read(here)).isEqualTo("old");
        assertThat(read(older)).isEqualTo("new");
    }

    @Test
    void aLostSubscriptionIsMadeAgain() {
        EasyCacheEngine here = node(true);
        EasyCacheEngine elsewhere = node(true);
        awaitSubscriptions(2);
        redis("CLIENT", "KILL", "TYPE", "pubsub");
        awaitSubscriptions(2);
        assertThat(read(here)).isEqualTo("old");

        update(elsewhere, "new");

        await().atMost(TIMEOUT).until(() -> read(here).equals("new"));
    }

    /** @param at which connection that it asks for it does not get: in an attempt to subscribe, or in a check after it */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void subscribesAfterAnErrorSuchAsOfAThreadThatCouldNotBeMade(int at) {
        AtomicInteger asked = new AtomicInteger();
        EasyCacheEngine here = node(
                true, new LettuceConnectionFactory(new RedisStandaloneConfiguration(server.host(), server.port())) {
                    @Override
                    public RedisConnection getConnection() {
                        if (Thread.currentThread().getName().equals("easy-cache-hints")
                                && asked.incrementAndGet() == at) {
                            throw new OutOfMemoryError("unable to create native thread");
                        }
                        return super.getConnection();
                    }
                });
        EasyCacheEngine elsewhere = node(true);
        await().atMost(TIMEOUT).until(() -> asked.get() > at);
        awaitSubscriptions(2);
        assertThat(read(here)).isEqualTo("old");

        update(elsewhere, "new");

        await().atMost(TIMEOUT).until(() -> read(here).equals("new"));
    }

    /** As when there is no memory even to plan the next attempt. */
    @Test
    void subscribesAfterAFailureThatCouldNotBeHandled() {
        AtomicInteger asked = new AtomicInteger();
        node(true, new LettuceConnectionFactory(new RedisStandaloneConfiguration(server.host(), server.port())) {
            @Override
            public RedisConnection getConnection() {
                if (Thread.currentThread().getName().equals("easy-cache-hints") && asked.incrementAndGet() == 1) {
                    throw new UnreadableException();
                }
                return super.getConnection();
            }
        });

        awaitSubscriptions(1);

        assertThat(asked).hasValueGreaterThan(1);
    }

    private static final class UnreadableException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw new OutOfMemoryError("Java heap space");
        }
    }

    @Test
    void withoutThePermissionInvalidationsGoOnAndOneWarningNamesTheChannel() {
        acl("resetchannels");
        try (LogCapture log = LogCapture.of(NearHintSubscription.class.getName())) {
            EasyCacheEngine here = node(true);
            await().atMost(TIMEOUT).until(() -> !log.warnings().isEmpty());
            assertThat(log.warnings()).singleElement().asString().contains("ec:near", "near-ttl");

            assertThat(read(here)).isEqualTo("old");
            update(here, "new");
            assertThat(read(here)).isEqualTo("new");
        }
    }

    @Test
    void withServersThatHaveNoSubscriptionsInvalidationsGoOnAndOneWarningSaysSo() {
        LettuceConnectionFactory factory =
                new LettuceConnectionFactory(new RedisStaticMasterReplicaConfiguration(server.host(), server.port()));
        factory.afterPropertiesSet();
        try (LogCapture log = LogCapture.of(NearHintSubscription.class.getName())) {
            EasyCacheEngine here = node(true, factory);
            await().atMost(TIMEOUT).until(() -> !log.warnings().isEmpty());
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .contains("static master and replica nodes", "easy-cache.near.hints");

            assertThat(read(here)).isEqualTo("old");
            update(here, "new");
            assertThat(read(here)).isEqualTo("new");
        }
    }
}
