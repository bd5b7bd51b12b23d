package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisSentinels;
import io.easykit.test.RedisServer;
import io.lettuce.core.RedisException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The sentinels demote a former master only about ten seconds after the promotion. */
class SentinelWatchIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofMillis(250);
    private static final Duration SOON = Duration.ofSeconds(30);

    private RedisSentinels group;
    private LettuceConnectionFactory factory;
    private LettuceConnector connector;
    private final Queue<Integer> reconnects = new ConcurrentLinkedQueue<>();

    @BeforeEach
    void connect() {
        group = RedisSentinels.start(1);
        RedisSentinelConfiguration configuration = new RedisSentinelConfiguration().master(RedisSentinels.MASTER_NAME);
        for (String address : group.addresses().split(",", -1)) {
            String[] parts = address.split(":", -1);
            configuration.sentinel(parts[0], Integer.parseInt(parts[1]));
        }
        LettuceConnectionFactory application = new LettuceConnectionFactory(configuration);
        factory = DedicatedConnections.copyOf(application, TIMEOUT);
        factory.start();
        connector = new LettuceConnector(factory, Duration.ofSeconds(5));
        connector.onReconnect(address -> reconnects.add(((InetSocketAddress) address).getPort()));
    }

    @AfterEach
    void close() {
        factory.destroy();
        group.close();
    }

    /** The connection that queries, not one of the driver's, which are short. */
    private boolean isWatched(RedisServer sentinel) {
        try (RawRedis redis = sentinel.connect()) {
            String clients = RawRedis.text((byte[]) redis.command("CLIENT", "LIST"));
            return clients.lines().anyMatch(line -> line.matches(".* age=[1-9].* cmd=sentinel.*"));
        }
    }

    @Test
    void leavesAFormerMasterThatStillActsAsMaster() {
        RedisServer former = group.master();
        await().atMost(SOON).until(() -> pings() && isWatched(group.sentinels().get(0)));

        RedisServer promoted = group.failOver();

        await().atMost(SOON).until(() -> pings() && reconnects.contains(promoted.port()));
        assertThat(role(former)).isEqualTo("master");
    }

    /** Calls may be rare, such as sends that wait for replicas. The first one after a fail-over must not be lost. */
    @Test
    void leavesAFormerMasterBetweenTwoCalls() {
        RedisServer former = group.master();
        await().atMost(SOON).until(this::pings);
        await().atMost(SOON).until(() -> isWatched(group.sentinels().get(0)));

        RedisServer promoted = group.failOver();

        await().atMost(SOON).until(() -> reconnects.contains(promoted.port()));
        assertThat(role(former)).isEqualTo("master");
    }

    @Test
    void queriesNoSentinelAfterItsFactoryWasStopped() {
        await().atMost(SOON).until(this::pings);
        await().atMost(SOON).until(() -> isWatched(group.sentinels().get(0)));

        factory.stop();
        await().atMost(SOON).until(() -> !isWatched(group.sentinels().get(0)));
        factory.start();

        await().atMost(SOON).until(this::pings);
        await().atMost(SOON).until(() -> isWatched(group.sentinels().get(0)));
    }

    @Test
    void goesOnWithAnotherSentinel() {
        RedisServer former = group.master();
        await().atMost(SOON).until(() -> pings() && isWatched(group.sentinels().get(0)));
        RedisServer other = group.sentinels().get(1);

        group.sentinels().get(0).kill();
        await().atMost(SOON).until(() -> pings() && isWatched(other));
        RedisServer promoted = failOverBy(other, former);

        await().atMost(SOON).until(() -> pings() && reconnects.contains(promoted.port()));
        assertThat(role(former)).isEqualTo("master");
    }

    /** A sentinel refuses while its data on the replicas are too old. */
    private RedisServer failOverBy(RedisServer sentinel, RedisServer former) {
        await().atMost(SOON).until(() -> {
            try (RawRedis redis = sentinel.connect()) {
                return "OK".equals(redis.command("SENTINEL", "FAILOVER", RedisSentinels.MASTER_NAME));
            } catch (RawRedis.RedisError notYet) {
                return false;
            }
        });
        RedisServer replica = group.servers().stream()
                .filter(server -> !server.equals(former))
                .findFirst()
                .orElseThrow();
        await().atMost(SOON).until(() -> masterPort(sentinel) == replica.port());
        return replica;
    }

    private static int masterPort(RedisServer sentinel) {
        try (RawRedis redis = sentinel.connect()) {
            List<?> address =
                    (List<?>) redis.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", RedisSentinels.MASTER_NAME);
            return Integer.parseInt(RawRedis.text((byte[]) address.get(1)));
        }
    }

    private static String role(RedisServer server) {
        try (RawRedis redis = server.connect()) {
            return RawRedis.text((byte[]) ((List<?>) redis.command("ROLE")).get(0));
        }
    }

    private boolean pings() {
        byte[] key = "key".getBytes(StandardCharsets.UTF_8);
        try {
            long unused = connector.<Long>await(key, redis -> redis.exists(key));
            return true;
        } catch (RedisException away) {
            return false;
        }
    }
}
