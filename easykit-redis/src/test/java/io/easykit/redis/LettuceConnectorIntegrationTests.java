package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisCluster;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.DnsResolvers;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class LettuceConnectorIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofMillis(250);
    private static final Duration NEVER = Duration.ofHours(1);

    /** A new JVM on a busy machine needs long for its first connection. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final RedisCluster CLUSTER = RedisCluster.start();

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final Queue<SocketAddress> reconnects = new ConcurrentLinkedQueue<>();

    @AfterAll
    static void closeCluster() {
        CLUSTER.close();
    }

    @AfterEach
    void close() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    @Test
    void leavesOnlyTheConnectionToAClusterNodeThatIsSilentAlthoughItIsStillTheMaster() {
        RedisServer master = CLUSTER.masters().get(0);
        TcpProxy line = open(TcpProxy.to(master));
        LettuceConnectionFactory factory = factory(
                new RedisClusterConfiguration(List.of(CLUSTER.addresses().split(",", -1))), through(line, master));
        LettuceConnector connector = connector(factory, Duration.ofSeconds(1));
        byte[] key = keyOn(master);
        await().atMost(PATIENCE).until(() -> pingsAll(connector));
        reconnects.clear();

        line.strand();

        await().atMost(PATIENCE).until(() -> pings(connector, key));
        assertThat(((RedisClusterClient) factory.getRequiredNativeClient()).getPartitions())
                .hasSize(3);
        await().atMost(PATIENCE).until(() -> pingsAll(connector));
        assertThat(reconnects)
                .as("connections made again")
                .extracting(address -> ((InetSocketAddress) address).getPort())
                .containsOnly(line.port());
    }

    @Test
    void connectsBeforeTheFirstCall() {
        RedisServer redis = open(RedisServer.start());
        RawRedis other = open(redis.connect());
        LettuceConnectionFactory factory =
                factory(new RedisStandaloneConfiguration(redis.host(), redis.port()), resources(builder -> builder));

        connector(factory, NEVER).startConnecting();

        await().until(() -> other.info("clients").get("connected_clients"), "2"::equals);
    }

    @Test
    void theReplyFailsIfACommandThrows() {
        RedisServer redis = open(RedisServer.start());
        LettuceConnector connector = connector(
                factory(new RedisStandaloneConfiguration(redis.host(), redis.port()), resources(builder -> builder)),
                NEVER);
        await().atMost(PATIENCE).until(() -> pings(connector, new byte[] {1}));

        for (Throwable failure : List.of(new IllegalStateException("closed"), new Error("Java heap space"))) {
            assertThat(connector.call(new byte[] {1}, commands -> {
                        throw LettuceConnectorIntegrationTests.<RuntimeException>sneaky(failure);
                    }))
                    .failsWithin(Duration.ZERO)
                    .withThrowableThat()
                    .havingRootCause()
                    .isSameAs(failure);
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> E sneaky(Throwable any) throws E {
        throw (E) any;
    }

    /** The caller may repeat the command, or undo it, and would do so too early. */
    @Test
    void sendsNoCommandWhoseCallerWasInterruptedBeforeTheConnection() throws Exception {
        RedisServer redis = open(RedisServer.start());
        TcpProxy line = open(TcpProxy.to(redis));
        LettuceConnector connector = connector(
                factory(new RedisStandaloneConfiguration(line.host(), line.port()), resources(builder -> builder)),
                NEVER);
        byte[] key = "key".getBytes(StandardCharsets.UTF_8);
        line.freeze();
        FutureTask<Long> write = new FutureTask<>(() -> connector.<Long>await(key, commands -> commands.incr(key)));
        Thread caller = new Thread(write);
        caller.start();
        await().until(caller::getState, Thread.State.TIMED_WAITING::equals);

        caller.interrupt();

        assertThatThrownBy(() -> write.get(30, TimeUnit.SECONDS))
                .hasCauseInstanceOf(RedisCommandInterruptedException.class);
        line.heal();
        await().atMost(PATIENCE).until(() -> pings(connector, key));
    }

    /** The driver keeps commands for a node of a cluster that it is connecting to, and sends them in any order. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void sendsNoCommandToANodeAfterItsCallerHasGivenUp(boolean isInterrupted) throws Exception {
        RedisServer master = CLUSTER.masters().get(0);
        TcpProxy line = open(TcpProxy.to(master));
        LettuceConnector connector = connector(
                factory(
                        new RedisClusterConfiguration(
                                List.of(CLUSTER.addresses().split(",", -1))),
                        through(line, master)),
                NEVER);
        byte[] key = keyOn(master);
        byte[] other = keyOn(CLUSTER.masters().get(1));
        await().atMost(PATIENCE).until(() -> pings(connector, other));
        line.freeze();
        FutureTask<Long> write = new FutureTask<>(() -> connector.<Long>await(key, commands -> commands.incr(key)));
        Thread caller = new Thread(write);
        caller.start();
        if (isInterrupted) {
            await().until(caller::getState, Thread.State.TIMED_WAITING::equals);
            caller.interrupt();
        }

        assertThatThrownBy(() -> write.get(30, TimeUnit.SECONDS))
                .hasCauseInstanceOf(
                        isInterrupted ? RedisCommandInterruptedException.class : NotConnectedException.class);
        line.heal();

        await().atMost(PATIENCE).until(() -> pings(connector, key));
    }

    /** The driver drops such a command. Its caller would wait for a reply until the command timeout. */
    @Test
    void failsAtOnceACommandThatTheConnectionDidNotTake() {
        RedisServer redis = open(RedisServer.start());
        AtomicBoolean closing = new AtomicBoolean();
        ClientResources resources = resources(builder -> builder.nettyCustomizer(writesFailWhile(closing)));
        LettuceConnector connector =
                connector(factory(new RedisStandaloneConfiguration(redis.host(), redis.port()), resources), NEVER);
        byte[] key = "key".getBytes(StandardCharsets.UTF_8);
        await().atMost(PATIENCE).until(() -> pings(connector, key));

        closing.set(true);

        assertThatThrownBy(() -> ping(connector, key)).isInstanceOf(NotConnectedException.class);
        closing.set(false);
        ping(connector, key);
    }

    /** As netty does between the moment at which a connection is closed and the one at which its user learns of it. */
    private static NettyCustomizer writesFailWhile(AtomicBoolean closing) {
        return new NettyCustomizer() {
            @Override
            public void afterChannelInitialized(Channel channel) {
                channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
                    @Override
                    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
                        if (closing.get()) {
                            ReferenceCountUtil.release(message);
                            promise.setFailure(new ClosedChannelException());
                        } else {
                            var unused = context.write(message, promise);
                        }
                    }
                });
            }
        };
    }

    /** A caller that calls once a second need not wait for its next call. The driver may also find a new master by itself. */
    @Test
    void tellsOfAPromotedReplicaWithoutAnotherCall() {
        RedisCluster cluster = open(RedisCluster.start(3, 1, "--cluster-node-timeout", "1000"));
        LettuceConnectionFactory factory = factory(
                new RedisClusterConfiguration(List.of(cluster.addresses().split(",", -1))),
                resources(builder -> builder));
        LettuceConnector connector = connector(factory, NEVER);
        byte[] key = "key".getBytes(StandardCharsets.UTF_8);
        int share = cluster.shareOf("key");
        await().atMost(PATIENCE).until(() -> pings(connector, key));
        reconnects.clear();

        RedisServer former = cluster.master(share);
        former.pause();
        assertThat(pings(connector, key)).isFalse();
        RedisServer promoted = cluster.awaitOtherMaster(share, former);
        // It may have followed already.
        boolean unused = pings(connector, key);

        await().atMost(PATIENCE).until(() -> reconnects.stream()
                .anyMatch(address -> ((InetSocketAddress) address).getPort() == promoted.port()));

        former.resume();
        await().atMost(PATIENCE).until(() -> takesOver(former));
        assertThat(cluster.awaitOtherMaster(share, promoted)).isEqualTo(former);
        List<ClusterMaster> before = connector.masters();
        reconnects.clear();
        await().atMost(PATIENCE).until(() -> {
            ((RedisClusterClient) factory.getRequiredNativeClient()).refreshPartitions();
            return !connector.masters().equals(before);
        });
        assertThat(reconnects)
                .extracting(address -> ((InetSocketAddress) address).getPort())
                .contains(former.port());
    }

    /** Fails until the server has noticed that it is a replica now. */
    private static boolean takesOver(RedisServer replica) {
        try (RawRedis redis = replica.connect()) {
            return "OK".equals(redis.command("CLUSTER", "FAILOVER", "TAKEOVER"));
        } catch (RuntimeException stillMaster) {
            return false;
        }
    }

    @Test
    void keepsConnectingBetweenTwoCalls() {
        RedisServer redis = open(RedisServer.start());
        LettuceConnector connector = connector(
                factory(new RedisStandaloneConfiguration(redis.host(), redis.port()), resources(builder -> builder)),
                NEVER);
        await().atMost(PATIENCE).until(() -> pings(connector, new byte[0]));

        redis.kill();
        await().atMost(PATIENCE).until(() -> !pings(connector, new byte[0]));
        assertThatThrownBy(() -> ping(connector, new byte[0])).isInstanceOf(RedisException.class);
        connector.replaceConnection();
        assertThatThrownBy(() -> ping(connector, new byte[0])).isInstanceOf(NotConnectedException.class);
        redis.restart();

        await().atMost(PATIENCE).until(() -> !reconnects.isEmpty());
        assertThat(reconnects).allMatch(address -> ((InetSocketAddress) address).getPort() == redis.port());
    }

    @Test
    void doesNotCountConnectionsThatReadTheTopology() {
        LettuceConnectionFactory factory = factory(
                new RedisClusterConfiguration(List.of(CLUSTER.addresses().split(",", -1))),
                resources(builder -> builder));
        LettuceConnector connector = connector(factory, NEVER);
        CLUSTER.masters().forEach(master -> await().atMost(PATIENCE).until(() -> pings(connector, keyOn(master))));
        reconnects.clear();

        ((RedisClusterClient) factory.getRequiredNativeClient()).refreshPartitions();

        assertThat(reconnects).isEmpty();
    }

    @Test
    void readsTheTopologyOverTheConnectionsItHas() {
        LettuceConnectionFactory factory = factory(
                new RedisClusterConfiguration(List.of(CLUSTER.addresses().split(",", -1))),
                resources(builder -> builder));
        LettuceConnector connector = connector(factory, NEVER);
        await().atMost(PATIENCE).until(() -> pingsAll(connector));
        RedisClusterClient client = (RedisClusterClient) factory.getRequiredNativeClient();
        List<RawRedis> masters =
                CLUSTER.masters().stream().map(master -> open(master.connect())).toList();
        List<Long> before = connectionsMade(masters);

        CLUSTER.masters().forEach(RedisServer::pause);
        client.refreshPartitions();
        CLUSTER.masters().forEach(RedisServer::resume);
        assertThat(connectionsMade(masters)).as("without a reply").isEqualTo(before);

        for (int i = ClusterClient.UNANSWERED; i < ClusterClient.MOST_UNCHANGED; i++) {
            client.refreshPartitions();
        }

        assertThat(connectionsMade(masters)).isEqualTo(before);
        assertThat(connector.masters()).hasSize(3);

        client.refreshPartitions();

        assertThat(connectionsMade(masters))
                .as("after the reading of all nodes that follows")
                .isEqualTo(before.stream().map(count -> count + 1).toList());
    }

    /** As one that is cut off from the other masters, which have promoted its replica. */
    @Test
    void readsTheTopologyAgainIfAMasterSaysThatTheClusterIsDown() {
        LettuceConnector connector = connector(
                factory(
                        new RedisClusterConfiguration(
                                List.of(CLUSTER.addresses().split(",", -1))),
                        resources(builder -> builder)),
                NEVER);
        byte[] key = keyOn(CLUSTER.masters().get(0));
        await().atMost(PATIENCE).until(() -> pings(connector, key));
        Logger log = (Logger) LoggerFactory.getLogger(FailureDetector.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        log.setLevel(Level.DEBUG);
        log.addAppender(lines);
        lines.start();
        try {
            assertThat(connector.call(
                            key,
                            commands -> CompletableFuture.failedFuture(
                                    new RedisCommandExecutionException("CLUSTERDOWN The cluster is down"))))
                    .failsWithin(PATIENCE);
        } finally {
            log.detachAppender(lines);
            log.setLevel(null);
        }

        assertThat(lines.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .anyMatch(line -> line.startsWith("Refreshing the topology") && line.contains("CLUSTERDOWN"));
    }

    private static List<Long> connectionsMade(List<RawRedis> servers) {
        return servers.stream()
                .map(server -> Long.valueOf(server.info("stats").get("total_connections_received")))
                .toList();
    }

    private static boolean pingsAll(LettuceConnector connector) {
        return CLUSTER.masters().stream().allMatch(master -> pings(connector, keyOn(master)));
    }

    /** Of a subscription's connection the commands learn nothing. It may lead elsewhere. */
    @Test
    void doesNotCountConnectionsOfSubscriptions() {
        RedisServer redis = open(RedisServer.start());
        LettuceConnectionFactory factory =
                factory(new RedisStandaloneConfiguration(redis.host(), redis.port()), resources(builder -> builder));
        LettuceConnector connector = connector(factory, NEVER);
        await().until(() -> pings(connector, new byte[0]));
        SubscriptionConnection subscriptions =
                new SubscriptionConnection(factory, "test-subscriptions", (broken, failure) -> {});
        opened.add(subscriptions::close);
        subscriptions.subscribe((message, pattern) -> {}, List.of("channel"));

        try (RawRedis raw = redis.connect()) {
            raw.command("CLIENT", "KILL", "TYPE", "pubsub");
            await().until(() -> raw.command("PUBLISH", "channel", "text").equals(1L));
        }

        assertThat(reconnects).isEmpty();
    }

    private LettuceConnector connector(LettuceConnectionFactory factory, Duration silenceOfServer) {
        LettuceConnector connector =
                new LettuceConnector(factory, TIMEOUT, () -> Duration.ofSeconds(5), silenceOfServer);
        connector.onReconnect(reconnects::add);
        return connector;
    }

    private LettuceConnectionFactory factory(RedisConfiguration redis, ClientResources resources) {
        LettuceConnectionFactory application = new LettuceConnectionFactory(
                redis,
                LettuceClientConfiguration.builder().clientResources(resources).build());
        LettuceConnectionFactory own = DedicatedConnections.copyOf(application, TIMEOUT);
        own.start();
        opened.add(own::destroy);
        return own;
    }

    /** Connects to the master through the proxy. */
    private ClientResources through(TcpProxy line, RedisServer master) {
        return resources(builder -> builder.socketAddressResolver(MappingSocketAddressResolver.create(
                DnsResolvers.UNRESOLVED,
                address -> address.getPort() == master.port() ? HostAndPort.of(line.host(), line.port()) : address)));
    }

    private ClientResources resources(UnaryOperator<ClientResources.Builder> settings) {
        ClientResources resources = settings.apply(
                        DefaultClientResources.builder().ioThreadPoolSize(2).computationThreadPoolSize(2))
                .build();
        opened.add(() -> resources.shutdown(0, 0, TimeUnit.SECONDS).syncUninterruptibly());
        return resources;
    }

    private <T extends AutoCloseable> T open(T resource) {
        opened.add(resource);
        return resource;
    }

    private static boolean pings(LettuceConnector connector, byte[] key) {
        try {
            ping(connector, key);
            return true;
        } catch (RedisException away) {
            return false;
        }
    }

    private static void ping(LettuceConnector connector, byte[] key) {
        long found = connector.<Long>await(key, redis -> redis.exists(key));
        assertThat(found).isZero();
    }

    private static byte[] keyOn(RedisServer master) {
        return IntStream.range(0, 1_000)
                .mapToObj(i -> "key " + i)
                .filter(key -> CLUSTER.masterOf(key).equals(master))
                .findFirst()
                .orElseThrow()
                .getBytes(StandardCharsets.UTF_8);
    }
}
