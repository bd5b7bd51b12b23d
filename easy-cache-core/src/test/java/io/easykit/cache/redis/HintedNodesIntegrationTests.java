package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.store.InMemoryOutbox;
import io.easykit.cache.store.Outbox;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisCluster;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The hints of each kind of invalidation, to a node whose near level would keep a value for an hour. */
class HintedNodesIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final CacheSpec<String> SPEC = CacheSpec.of("name", String.class)
            .withOptions(CacheOptions.builder()
                    .ttl(Duration.ofHours(2))
                    .staleWindow(Duration.ZERO)
                    .nearTtl(Duration.ofHours(1))
                    .build());

    /** More than one batch of an update, in slots of all masters. */
    private static final List<CacheKey<String>> KEYS =
            IntStream.range(0, 150).mapToObj(SPEC::key).toList();

    private static final List<CacheKey<String>> ONE = KEYS.subList(0, 1);

    private static RedisServer server;
    private static RedisCluster cluster;

    private final List<Runnable> closing = new ArrayList<>();
    private final AtomicReference<String> database = new AtomicReference<>("old");

    @BeforeAll
    static void startServers() {
        server = RedisServer.start();
        cluster = RedisCluster.start();
    }

    @AfterAll
    static void stopServers() {
        server.close();
        cluster.close();
    }

    @BeforeEach
    void empty() {
        server.flush();
        cluster.masters().forEach(RedisServer::flush);
    }

    @AfterEach
    void close() {
        for (int i = closing.size() - 1; i >= 0; i--) {
            closing.get(i).run();
        }
    }

    /** Where the nodes keep their values. */
    enum Redis {
        SINGLE {
            @Override
            List<RedisServer> servers() {
                return List.of(server);
            }

            @Override
            LettuceConnectionFactory factory(LettuceClientConfiguration client) {
                return new LettuceConnectionFactory(
                        new RedisStandaloneConfiguration(server.host(), server.port()), client);
            }
        },
        CLUSTER {
            @Override
            List<RedisServer> servers() {
                return cluster.masters();
            }

            @Override
            LettuceConnectionFactory factory(LettuceClientConfiguration client) {
                return new LettuceConnectionFactory(
                        new RedisClusterConfiguration(
                                List.of(cluster.addresses().split(",", -1))),
                        client);
            }
        };

        abstract List<RedisServer> servers();

        abstract LettuceConnectionFactory factory(LettuceClientConfiguration client);

        boolean hasSubscriber() {
            return servers().stream().anyMatch(one -> {
                try (RawRedis redis = one.connect()) {
                    return redis.command("PUBSUB", "NUMSUB", "ec:near") instanceof List<?> reply
                            && Long.valueOf(1).equals(reply.get(1));
                }
            });
        }
    }

    private LettuceConnectionFactory started(Function<LettuceClientConfiguration, LettuceConnectionFactory> redis) {
        LettuceConnectionFactory factory = redis.apply(LettuceClientConfiguration.builder()
                .commandTimeout(TIMEOUT)
                .shutdownTimeout(Duration.ZERO)
                .build());
        factory.afterPropertiesSet();
        factory.start();
        closing.add(factory::destroy);
        return factory;
    }

    /** A node with a near level, which does not look for epochs by itself. */
    private EasyCacheEngine reader(Redis redis) {
        LettuceConnectionFactory factory = started(redis::factory);
        RedisEntryStore store = RedisEntryStore.withHints(factory, RedisEntryStore.DEFAULT_KEY_PREFIX, TIMEOUT);
        NearHintSubscription subscription = new NearHintSubscription(factory, store);
        EasyCacheEngine cache = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .nearLevels(() -> CaffeineLocalLevel.near(1_000, System::nanoTime))
                .build();
        cache.stop();
        subscription.start();
        closing.add(subscription::stop);
        await().atMost(TIMEOUT).until(redis::hasSubscriber);
        return cache;
    }

    /** A node that updates, and reaches its Redis again soon. */
    private EasyCacheEngine.Builder writer(Function<LettuceClientConfiguration, LettuceConnectionFactory> redis) {
        RedisEntryStore store =
                RedisEntryStore.withHints(started(redis), RedisEntryStore.DEFAULT_KEY_PREFIX, Duration.ofMillis(500));
        CircuitBreakerOptions often =
                new CircuitBreakerOptions(Duration.ofSeconds(10), 0.5, 10, Duration.ofMillis(100), 1);
        return EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, store)
                .circuitBreaker(often);
    }

    private EasyCacheEngine started(EasyCacheEngine.Builder builder) {
        EasyCacheEngine cache = builder.build();
        closing.add(cache::stop);
        return cache;
    }

    private EasyCacheEngine writerBehind(TcpProxy proxy) {
        return started(writer(client ->
                new LettuceConnectionFactory(new RedisStandaloneConfiguration(proxy.host(), proxy.port()), client)));
    }

    private List<String> read(EasyCacheEngine node, List<CacheKey<String>> keys) {
        return keys.stream()
                .map(key -> node.fetch(key, database::get))
                .distinct()
                .toList();
    }

    private void update(EasyCacheEngine node, List<CacheKey<String>> keys) {
        node.update(keys, () -> {
            database.set("new");
            return null;
        });
    }

    private void awaitRead(String value, EasyCacheEngine reader, List<CacheKey<String>> keys) {
        await().atMost(TIMEOUT).until(() -> read(reader, keys).equals(List.of(value)));
    }

    @ParameterizedTest
    @EnumSource(Redis.class)
    void anUpdateOfManyKeysIsSeen(Redis redis) {
        EasyCacheEngine reader = reader(redis);
        EasyCacheEngine writer = started(writer(redis::factory));
        assertThat(read(reader, KEYS)).containsExactly("old");

        update(writer, KEYS);

        awaitRead("new", reader, KEYS);
    }

    @ParameterizedTest
    @EnumSource(Redis.class)
    void aClearedPrefixIsSeen(Redis redis) {
        EasyCacheEngine reader = reader(redis);
        EasyCacheEngine writer = started(writer(redis::factory));
        assertThat(read(reader, KEYS)).containsExactly("old");

        database.set("new");
        writer.invalidate(List.of(SPEC.all()));

        awaitRead("new", reader, KEYS);
    }

    @Test
    void anInvalidationThatIsDeliveredLateIsSeen() {
        try (TcpProxy proxy = TcpProxy.to(server)) {
            EasyCacheEngine reader = reader(Redis.SINGLE);
            EasyCacheEngine writer = writerBehind(proxy);
            assertThat(read(reader, ONE)).containsExactly("old");
            proxy.cut();
            update(writer, ONE);
            assertThat(read(reader, ONE)).containsExactly("old");

            proxy.heal();

            awaitRead("new", reader, ONE);
        }
    }

    /** It is repeated because the new connection may lead to a server that has lost it. */
    @Test
    void aRepeatedInvalidationIsSeen() {
        try (TcpProxy proxy = TcpProxy.to(server)) {
            EasyCacheEngine reader = reader(Redis.SINGLE);
            EasyCacheEngine writer = writerBehind(proxy);
            update(writer, ONE);
            awaitRead("new", reader, ONE);
            database.set("unseen");
            assertThat(read(reader, ONE)).containsExactly("new");

            proxy.cut();
            proxy.heal();

            awaitRead("unseen", reader, ONE);
        }
    }

    /** The node that delivers it knows only the name of the entry. */
    @Test
    void anInvalidationOfTheOutboxIsSeen() {
        EasyCacheEngine reader = reader(Redis.SINGLE);
        InMemoryOutbox outbox = new InMemoryOutbox(System::currentTimeMillis);
        started(writer(Redis.SINGLE::factory).outbox(outbox));
        assertThat(read(reader, ONE)).containsExactly("old");

        database.set("new");
        outbox.put(new Outbox.Message(
                "1", CacheSpec.DEFAULT_CLUSTER, List.of(ONE.get(0).name())));

        awaitRead("new", reader, ONE);
    }
}
