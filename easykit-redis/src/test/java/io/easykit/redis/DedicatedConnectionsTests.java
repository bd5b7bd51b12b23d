package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.test.RedisServer;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.DnsResolvers;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import io.lettuce.core.resource.NettyCustomizer;
import io.lettuce.core.tracing.MicrometerTracing;
import io.micrometer.observation.ObservationRegistry;
import io.netty.channel.Channel;
import io.netty.resolver.DefaultAddressResolverGroup;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class DedicatedConnectionsTests {

    private static final Duration TIMEOUT = Duration.ofMillis(250);

    /** A new JVM on a busy machine needs long for its first connection. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final byte[] KEY = {'k'};

    private final ClientResources resources = DefaultClientResources.builder()
            .ioThreadPoolSize(2)
            .computationThreadPoolSize(2)
            .build();

    @AfterEach
    void shutDown() {
        resources.shutdown(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Test
    void keepsServerCredentialsAndTls() {
        RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("redis.example", 7000);
        server.setDatabase(3);
        server.setUsername("shop");
        server.setPassword(RedisPassword.of("secret"));

        LettuceConnectionFactory copy = copyOf(
                server,
                LettuceClientConfiguration.builder()
                        .clientName("shop")
                        .useSsl()
                        .startTls()
                        .build());

        assertThat(copy.getHostName()).isEqualTo("redis.example");
        assertThat(copy.getPort()).isEqualTo(7000);
        assertThat(copy.getPassword()).isEqualTo("secret");
        assertThat(copy.getDatabase()).isEqualTo(3);
        assertThat(copy.getClientName()).isEqualTo("shop");
        assertThat(copy.isUseSsl()).isTrue();
        assertThat(copy.isStartTls()).isTrue();
    }

    @Test
    void answersInTimeOrNotAtAll() {
        LettuceConnectionFactory copy =
                copyOf(new RedisStandaloneConfiguration(), LettuceClientConfiguration.defaultConfiguration());

        ClientOptions options = copy.getClientConfiguration().getClientOptions().orElseThrow();
        assertThat(DedicatedConnections.commandTimeoutOf(copy)).isEqualTo(TIMEOUT);
        assertThat(options.getDisconnectedBehavior()).isEqualTo(DisconnectedBehavior.REJECT_COMMANDS);
        assertThat(copy.getTimeout()).isEqualTo(2_000);
        assertThat(options.getSocketOptions().getConnectTimeout()).isEqualTo(Duration.ofSeconds(2));
        assertThat(options.getTimeoutOptions().getSource().getTimeout(command()))
                .isEqualTo(250_000_000);
    }

    /** The driver drops what the filter accepts, and would leave its caller waiting. */
    @Test
    void failsWhatItDoesNotReplay() {
        ClientOptions options = copyOf(
                        new RedisStandaloneConfiguration(), LettuceClientConfiguration.defaultConfiguration())
                .getClientConfiguration()
                .getClientOptions()
                .orElseThrow();
        AsyncCommand<String, String, String> command = new AsyncCommand<>(command());

        assertThat(options.getReplayFilter().test(command)).isTrue();

        assertThat(command)
                .failsWithin(Duration.ZERO)
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(NotConnectedException.class);
    }

    @Test
    void asksTheMasterOnlyAndUnseen() {
        ClientResources traced = DefaultClientResources.builder()
                .ioThreadPoolSize(2)
                .computationThreadPoolSize(2)
                .tracing(new MicrometerTracing(ObservationRegistry.create(), "redis"))
                .build();

        LettuceClientConfiguration client = copyOf(
                        new RedisStandaloneConfiguration(),
                        LettuceClientConfiguration.builder()
                                .clientResources(traced)
                                .readFrom(ReadFrom.ANY)
                                .build())
                .getClientConfiguration();

        assertThat(client.getReadFrom()).isEmpty();
        assertThat(client.getClientResources().orElseThrow().tracing().isEnabled())
                .isFalse();
        assertThat(client.getClientResources().orElseThrow().eventLoopGroupProvider())
                .isSameAs(traced.eventLoopGroupProvider());
        traced.shutdown(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Test
    void reconnectsWithinHalfASecondHoweverLongAnOutageLasts() {
        Delay delay = copyOf(
                        new RedisStandaloneConfiguration(),
                        LettuceClientConfiguration.builder()
                                .clientResources(resources)
                                .build())
                .getClientConfiguration()
                .getClientResources()
                .orElseThrow()
                .reconnectDelay();

        assertThat(delay.createDelay(1)).isLessThan(Duration.ofMillis(10));
        assertThat(delay.createDelay(1_000)).isEqualTo(Duration.ofMillis(500));
    }

    @Test
    void keepsOtherOptions() {
        LettuceClientConfiguration client = copyOf(
                        new RedisStandaloneConfiguration(),
                        LettuceClientConfiguration.builder()
                                .shutdownTimeout(Duration.ofMillis(7))
                                .useSsl()
                                .verifyPeer(SslVerifyMode.CA)
                                .and()
                                .clientOptions(ClientOptions.builder()
                                        .pingBeforeActivateConnection(false)
                                        .build())
                                .build())
                .getClientConfiguration();

        ClientOptions options = client.getClientOptions().orElseThrow();
        assertThat(client.getShutdownTimeout()).isEqualTo(Duration.ofMillis(7));
        assertThat(client.getVerifyMode()).isEqualTo(SslVerifyMode.CA);
        assertThat(options.isPingBeforeActivateConnection()).isFalse();
    }

    /** The application may limit the commands that wait for its own connection. */
    @Test
    void takesAnyNumberOfCallsAtATime() {
        try (RedisServer server = RedisServer.start()) {
            LettuceClientConfiguration limited = LettuceClientConfiguration.builder()
                    .clientResources(resources)
                    .clientOptions(ClientOptions.builder().requestQueueSize(1).build())
                    .build();
            LettuceConnectionFactory copy = DedicatedConnections.copyOf(
                    new LettuceConnectionFactory(
                            new RedisStandaloneConfiguration(server.host(), server.port()), limited),
                    PATIENCE);
            copy.start();
            try {
                LettuceConnector connector = new LettuceConnector(copy, PATIENCE);
                connector.<Long>await(KEY, redis -> redis.exists(KEY));

                CompletableFuture<?>[] replies = Stream.generate(() -> connector
                                .<Long>call(KEY, redis -> redis.exists(KEY))
                                .toCompletableFuture())
                        .limit(1_000)
                        .toArray(CompletableFuture<?>[]::new);

                assertThat(CompletableFuture.allOf(replies)).succeedsWithin(PATIENCE);
            } finally {
                copy.destroy();
            }
        }
    }

    @Test
    void followsTheTopologyOfAClusterWithoutASetting() {
        ClusterClientOptions without = ClusterClientOptions.builder()
                .maxRedirects(9)
                .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                        .disableAllAdaptiveRefreshTriggers()
                        .enablePeriodicRefresh(Duration.ofSeconds(7))
                        .build())
                .build();

        LettuceConnectionFactory copy = copyOf(
                new RedisClusterConfiguration(List.of("a.example:7000")),
                LettuceClientConfiguration.builder().clientOptions(without).build());

        ClusterClientOptions options = (ClusterClientOptions)
                copy.getClientConfiguration().getClientOptions().orElseThrow();
        assertThat(options.getMaxRedirects()).isEqualTo(9);
        assertThat(options.getTopologyRefreshOptions().getAdaptiveRefreshTriggers())
                .hasSize(ClusterTopologyRefreshOptions.RefreshTrigger.values().length);
        assertThat(options.getTopologyRefreshOptions().getRefreshPeriod()).isEqualTo(Duration.ofSeconds(7));
    }

    @Test
    void copiesSentinelSocketAndStaticReplicas() {
        RedisStaticMasterReplicaConfiguration replicas = new RedisStaticMasterReplicaConfiguration("a.example", 6379);
        replicas.addNode("b.example", 6379);
        replicas.setDatabase(5);
        RedisSentinelConfiguration sentinel = new RedisSentinelConfiguration("main", Set.of("s.example:26379"));
        LettuceClientConfiguration client = LettuceClientConfiguration.defaultConfiguration();

        assertThat(copyOf(sentinel, client).getSentinelConfiguration()).isEqualTo(sentinel);
        assertThat(copyOf(new RedisSocketConfiguration("/run/redis"), client).getSocketConfiguration())
                .isEqualTo(new RedisSocketConfiguration("/run/redis"));
        assertThat(copyOf(replicas, client).getDatabase()).isEqualTo(5);
    }

    @Test
    void keepsItsOptionsInAClusterWithItsOwnRedirects() {
        RedisClusterConfiguration cluster = new RedisClusterConfiguration(List.of("a.example:7000"));
        cluster.setMaxRedirects(9);
        cluster.setPassword("secret");

        LettuceConnectionFactory copy = copyOf(
                cluster,
                LettuceClientConfiguration.builder().clientResources(resources).build());
        copy.start();
        ClusterClientOptions options =
                (ClusterClientOptions) ((RedisClusterClient) copy.getRequiredNativeClient()).getOptions();
        copy.destroy();

        assertThat(options.getMaxRedirects()).isEqualTo(9);
        assertThat(options.getReplayFilter().test(command())).isTrue();
        assertThat(options.getTopologyRefreshOptions().getAdaptiveRefreshTriggers())
                .isNotEmpty();
        assertThat(copy.getClusterConfiguration())
                .extracting(RedisClusterConfiguration::getClusterNodes, RedisClusterConfiguration::getPassword)
                .containsExactly(cluster.getClusterNodes(), cluster.getPassword());
    }

    /** Behind a network address translation or a tunnel, addresses are resolved by code of the application. */
    @Test
    void aCopyWithThreadsOfItsOwnConnectsLikeTheOriginalThatWasShutDown() {
        AtomicInteger customized = new AtomicInteger();
        try (RedisServer server = RedisServer.start()) {
            ClientResources application = DefaultClientResources.builder()
                    .ioThreadPoolSize(2)
                    .computationThreadPoolSize(2)
                    .socketAddressResolver(MappingSocketAddressResolver.create(
                            DnsResolvers.UNRESOLVED, any -> HostAndPort.of(server.host(), server.port())))
                    .addressResolverGroup(DefaultAddressResolverGroup.INSTANCE)
                    .nettyCustomizer(new NettyCustomizer() {
                        @Override
                        public void afterChannelInitialized(Channel channel) {
                            customized.incrementAndGet();
                        }
                    })
                    .build();
            LettuceConnectionFactory copy = copyOf(
                    new RedisStandaloneConfiguration("redis.invalid", 1234),
                    LettuceClientConfiguration.builder()
                            .clientResources(application)
                            .build());
            copy.start();
            copy.destroy();
            application.shutdown(0, 0, TimeUnit.SECONDS).syncUninterruptibly();

            LettuceConnectionFactory independent = DedicatedConnections.independentCopyOf(copy, TIMEOUT);
            independent.start();
            try (RedisConnection connection = independent.getConnection()) {
                assertThat(connection.ping()).isEqualTo("PONG");
                assertThat(customized).hasPositiveValue();
                assertThat(independent.getClientResources().addressResolverGroup())
                        .isSameAs(DefaultAddressResolverGroup.INSTANCE);
            } finally {
                independent.destroy();
            }
        }
    }

    @Test
    void leavesTheOriginalAsItIs() {
        LettuceConnectionFactory original = new LettuceConnectionFactory(
                new RedisStandaloneConfiguration(), LettuceClientConfiguration.defaultConfiguration());

        DedicatedConnections.copyOf(original, TIMEOUT);

        assertThat(original.getTimeout()).isEqualTo(60_000);
        assertThat(original.isRunning()).isFalse();
    }

    @Test
    void refusesATimeoutOfNothing() {
        assertThatThrownBy(() -> DedicatedConnections.copyOf(new LettuceConnectionFactory(), Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at least 1 ms");
    }

    private static LettuceConnectionFactory copyOf(RedisConfiguration server, LettuceClientConfiguration client) {
        return DedicatedConnections.copyOf(new LettuceConnectionFactory(server, client), TIMEOUT);
    }

    private static Command<String, String, String> command() {
        return new Command<>(CommandType.PING, null);
    }
}
