package io.easykit.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisCluster;
import io.easykit.test.RedisSentinels;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** What an application on Jedis notices of servers that close connections, change places, or end. */
class DedicatedJedisIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofMillis(500);

    /** Of calls whose duration counts. Generous: the machine may be busy. */
    private static final Duration LONG_TIMEOUT = TIMEOUT.multipliedBy(3);

    private static final int IDLE = 5;

    /** Size of the pool. */
    private static final int CONNECTIONS = 16;

    private static final ExecutorService THREADS = Executors.newCachedThreadPool();

    private JedisConnectionFactory factory;

    @AfterAll
    static void shutDown() {
        THREADS.shutdownNow();
    }

    @AfterEach
    void destroy() {
        factory.destroy();
    }

    @Test
    void onlyOneCallFailsAfterRedisClosedAllConnections() {
        try (RedisServer server = RedisServer.start();
                RawRedis redis = server.connect()) {
            SpringCalls calls = callsOf(new RedisStandaloneConfiguration(server.host(), server.port()));
            openConnections();

            redis.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");

            assertThat(failuresOf(calls, IDLE)).hasSize(1);
        }
    }

    @Test
    void onlyOneCallFailsAfterAnAddressHasAnotherOwner() {
        try (RedisServer former = RedisServer.start();
                RedisServer next = RedisServer.start();
                TcpProxy address = TcpProxy.to(former)) {
            SpringCalls calls = callsOf(new RedisStandaloneConfiguration(address.host(), address.port()));
            openConnections();

            address.redirect(next);
            former.replicaOf(next);

            assertThat(failuresOf(calls, IDLE)).hasSize(1);
        }
    }

    @Test
    void reportsTheFirstCallThatSucceedsAfterALostConnection() {
        try (RedisServer former = RedisServer.start();
                RedisServer next = RedisServer.start();
                TcpProxy address = TcpProxy.to(former)) {
            SpringCalls calls = callsOf(new RedisStandaloneConfiguration(address.host(), address.port()));
            AtomicInteger reported = new AtomicInteger();
            calls.onReconnect(reported::incrementAndGet);
            openConnections();
            write(calls);
            assertThat(calls.call(redis -> redis.commands().hGetAll("key".getBytes(UTF_8))))
                    .failsWithin(TIMEOUT);
            assertThat(write(calls)).isTrue();
            assertThat(reported).as("after an error reply").hasValue(0);

            address.retarget(next);
            assertThat(write(calls)).isFalse();
            assertThat(reported).hasValue(0);
            assertThat(calls.call(redis -> reported.get())).isCompletedWithValue(0);
            assertThat(reported).hasValue(1);
            failuresOf(calls, IDLE);
            assertThat(reported).hasValue(1);
        }
    }

    @Test
    void followsSentinelsToANewMaster() {
        try (RedisSentinels group = RedisSentinels.start(1)) {
            SpringCalls calls = callsOf(sentinels(group.sentinels()));
            openConnections();
            RedisServer former = group.master();

            former.kill();
            RedisServer promoted = group.awaitOtherMaster(former);

            await().atMost(Duration.ofSeconds(30)).until(() -> write(calls));
            assertThat(valueOn(promoted)).isEqualTo("value");
        }
    }

    /** Jedis alone would leave the former master only with the connections that are idle at that moment. */
    @Test
    void leavesAFormerMasterWithAConnectionThatWasInUse() {
        try (RedisSentinels group = RedisSentinels.start(1)) {
            callsOf(sentinels(group.sentinels()));
            RedisConnection inUse = factory.getConnection();
            inUse.ping();
            RedisServer former = group.master();
            former.pause();
            try {
                RedisServer promoted = group.awaitOtherMaster(former);
                await().atMost(Duration.ofSeconds(30)).until(() -> portOfNextConnection() == promoted.port());

                inUse.close();

                assertThat(portOfNextConnection()).isEqualTo(promoted.port());
            } finally {
                former.resume();
            }
        }
    }

    /** @return -1 if it is not known */
    private int portOfNextConnection() {
        try (RedisConnection connection = factory.getConnection()) {
            return Integer.parseInt(connection.serverCommands().info("server").getProperty("tcp_port"));
        } catch (DataAccessException e) {
            return -1;
        }
    }

    /** The sentinels and the servers have users of their own. */
    @Test
    void logsInToTheSentinelsAndToTheirMasterWithTheUserOfEach() {
        try (RedisSentinels group = RedisSentinels.start(0);
                RawRedis master = group.master().connect()) {
            master.command("ACL", "SETUSER", "app", "on", ">of-app", "allcommands", "allkeys");
            for (RedisServer sentinel : group.sentinels()) {
                try (RawRedis raw = sentinel.connect()) {
                    raw.command("ACL", "SETUSER", "watch", "on", ">of-watch", "allcommands", "allchannels");
                }
            }
            RedisSentinelConfiguration sentinels = sentinels(group.sentinels());
            sentinels.setUsername("app");
            sentinels.setPassword("of-app");
            sentinels.setSentinelUsername("watch");
            sentinels.setSentinelPassword("of-watch");
            sentinels.setDatabase(3);

            callsOf(sentinels);

            try (RedisConnection connection = factory.getConnection()) {
                connection.ping();
                assertThat(clientsOf(master)).contains("user=app", "db=3");
            }
            try (RawRedis raw = group.sentinels().get(0).connect()) {
                assertThat(clientsOf(raw)).contains("user=watch");
            }
        }
    }

    private static String clientsOf(RawRedis redis) {
        return RawRedis.text((byte[]) redis.command("CLIENT", "LIST"));
    }

    @Test
    void closesConnectionsThatWereIdleForAMinute() {
        JedisConnectionFactory original = new JedisConnectionFactory(
                new RedisStandaloneConfiguration(RedisServer.shared().host(), 1));
        factory = DedicatedJedis.copyOf(original, TIMEOUT);

        assertThat(factory.getPoolConfig().getMinEvictableIdleDuration()).isEqualTo(Duration.ofMinutes(1));
        assertThat(factory.getPoolConfig().getDurationBetweenEvictionRuns()).isEqualTo(Duration.ofSeconds(30));
    }

    /** Servers and firewalls close idle connections, so a burst after a quiet time would fail. */
    @Test
    void closesConnectionsThatWereIdle() {
        try (RedisServer server = RedisServer.start();
                TcpProxy line = TcpProxy.to(server)) {
            callsOf(new RedisStandaloneConfiguration(line.host(), line.port()), TIMEOUT, Duration.ofMillis(200));
            openConnections();
            assertThat(line.connections()).isPositive();

            await().until(() -> line.connections() == 0);
        }
    }

    @Test
    void followsAClusterToANewMaster() {
        try (RedisCluster cluster = RedisCluster.start(3, 1)) {
            SpringCalls calls = callsOf(new RedisClusterConfiguration(
                    Arrays.asList(cluster.addresses().split(","))));
            assertThat(calls.isOfCluster()).isTrue();
            write(calls);
            RedisServer former = cluster.masterOf("key");

            former.kill();
            RedisServer promoted = cluster.awaitPromotion(former);

            await().atMost(Duration.ofSeconds(30)).until(() -> write(calls));
            assertThat(valueOn(promoted)).isEqualTo("value");
        }
    }

    /** With the timeouts of Jedis alone the last callers would wait for a connection, and then for the handshake of their own. */
    @Test
    void aCallEndsWithinItsTimeoutThoughAllConnectionsHang() throws Exception {
        try (RedisServer server = RedisServer.start();
                TcpProxy line = TcpProxy.to(server)) {
            SpringCalls calls = callsOf(new RedisStandaloneConfiguration(line.host(), line.port()), LONG_TIMEOUT);
            assertThat(write(calls)).isTrue();

            line.freeze();
            List<CompletableFuture<Duration>> failed = Stream.generate(
                            () -> CompletableFuture.supplyAsync(() -> timeToFail(calls), THREADS))
                    .limit(2 * CONNECTIONS)
                    .toList();

            for (CompletableFuture<Duration> one : failed) {
                assertThat(one.get()).isLessThan(LONG_TIMEOUT.multipliedBy(2));
            }
            line.heal();
            await().until(() -> write(calls));
        }
    }

    /** Jedis alone would try a second time, and read the topology from each node. */
    @Test
    void aCallToAMasterThatHangsEndsWithinItsTimeout() {
        try (RedisCluster cluster = RedisCluster.start()) {
            SpringCalls calls = callsOf(
                    new RedisClusterConfiguration(
                            Arrays.asList(cluster.addresses().split(","))),
                    LONG_TIMEOUT);
            assertThat(write(calls)).isTrue();
            RedisServer master = cluster.masterOf("key");

            master.pause();
            try {
                assertThat(timeToFail(calls)).isLessThan(LONG_TIMEOUT.multipliedBy(2));
            } finally {
                master.resume();
            }
            await().until(() -> write(calls));
        }
    }

    private static Duration timeToFail(SpringCalls calls) {
        long began = System.nanoTime();
        assertThat(write(calls)).isFalse();
        return Duration.ofNanos(System.nanoTime() - began);
    }

    private static RedisSentinelConfiguration sentinels(List<RedisServer> servers) {
        RedisSentinelConfiguration sentinels = new RedisSentinelConfiguration().master(RedisSentinels.MASTER_NAME);
        servers.forEach(one -> sentinels.sentinel(one.host(), one.port()));
        return sentinels;
    }

    private SpringCalls callsOf(Object servers) {
        return callsOf(servers, TIMEOUT);
    }

    private SpringCalls callsOf(Object servers, Duration timeout) {
        return callsOf(servers, timeout, Duration.ofMinutes(1));
    }

    /** @param idle time after which an idle connection is closed */
    private SpringCalls callsOf(Object servers, Duration timeout, Duration idle) {
        JedisConnectionFactory original = servers instanceof RedisClusterConfiguration cluster
                ? new JedisConnectionFactory(cluster)
                : servers instanceof RedisSentinelConfiguration sentinels
                        ? new JedisConnectionFactory(sentinels)
                        : new JedisConnectionFactory((RedisStandaloneConfiguration) servers);
        original.afterPropertiesSet();
        factory = DedicatedJedis.copyOf(original, timeout, idle);
        factory.start();
        return new SpringCalls(factory);
    }

    /** Leaves idle connections in the pool. */
    private void openConnections() {
        List<RedisConnection> open =
                Stream.generate(factory::getConnection).limit(IDLE).toList();
        open.forEach(RedisConnection::ping);
        open.forEach(RedisConnection::close);
    }

    private static List<Throwable> failuresOf(SpringCalls calls, int count) {
        return Stream.generate(() -> failureOf(calls))
                .limit(count)
                .flatMap(Optional::stream)
                .toList();
    }

    private static boolean write(SpringCalls calls) {
        return failureOf(calls).isEmpty();
    }

    private static Optional<Throwable> failureOf(SpringCalls calls) {
        return calls.call(redis -> redis.stringCommands().set("key".getBytes(UTF_8), "value".getBytes(UTF_8)))
                .handle((done, failure) -> Optional.ofNullable(failure))
                .toCompletableFuture()
                .join();
    }

    private static String valueOn(RedisServer server) {
        try (RawRedis redis = server.connect()) {
            return RawRedis.text((byte[]) redis.command("GET", "key"));
        }
    }
}
