package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.TimeoutOptions.TimeoutSource;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class LettuceFactoriesTests {

    private static final Duration TIMEOUT = Duration.ofMillis(250);

    static Stream<RedisConfiguration> configurations() {
        return Stream.of(
                new RedisStandaloneConfiguration("host", 7000),
                new RedisSentinelConfiguration().master("master").sentinel("host", 26379),
                new RedisClusterConfiguration(List.of("host:7000")),
                new RedisSocketConfiguration("/tmp/redis.sock"),
                new RedisStaticMasterReplicaConfiguration("host", 7000));
    }

    @ParameterizedTest
    @MethodSource("configurations")
    void goesToTheSameServers(RedisConfiguration configuration) {
        LettuceConnectionFactory copy = copyOf(configuration, LettuceClientConfiguration.defaultConfiguration());
        assertThat(new DirectFieldAccessor(copy).getPropertyValue("configuration"))
                .isSameAs(configuration);
    }

    @Test
    void keepsWhatSaysWhoAndHow() {
        ClientResources resources = ClientResources.create();
        LettuceClientConfiguration client = copyOf(LettuceClientConfiguration.builder()
                        .clientName("shop")
                        .clientResources(resources)
                        .shutdownTimeout(Duration.ofMillis(7))
                        .useSsl()
                        .verifyPeer(SslVerifyMode.CA)
                        .startTls()
                        .build())
                .getClientConfiguration();
        assertThat(client.getClientName()).contains("shop");
        assertThat(client.getClientResources()).containsSame(resources);
        assertThat(client.getShutdownTimeout()).isEqualTo(Duration.ofMillis(7));
        assertThat(client.isUseSsl()).isTrue();
        assertThat(client.isStartTls()).isTrue();
        assertThat(client.getVerifyMode()).isEqualTo(SslVerifyMode.CA);
        assertThat(resources.shutdown(0, 0, TimeUnit.SECONDS).awaitUninterruptibly(10, TimeUnit.SECONDS))
                .isTrue();
    }

    @Test
    void isQuickAndReadsFromTheMaster() {
        LettuceClientConfiguration client = copyOf(LettuceClientConfiguration.builder()
                        .commandTimeout(Duration.ofMinutes(1))
                        .readFrom(ReadFrom.ANY)
                        .clientOptions(ClientOptions.builder()
                                .requestQueueSize(77)
                                .pingBeforeActivateConnection(false)
                                .build())
                        .build())
                .getClientConfiguration();
        assertThat(client.getReadFrom()).isEmpty();
        ClientOptions options = client.getClientOptions().orElseThrow();
        assertThat(options.getDisconnectedBehavior()).isEqualTo(DisconnectedBehavior.REJECT_COMMANDS);
        assertThat(options.getTimeoutOptions().isTimeoutCommands()).isTrue();
        TimeoutSource timeouts = options.getTimeoutOptions().getSource();
        Command<byte[], byte[], String> ping =
                new Command<>(CommandType.PING, new StatusOutput<>(ByteArrayCodec.INSTANCE));
        assertThat(Duration.of(timeouts.getTimeout(ping), timeouts.getTimeUnit().toChronoUnit()))
                .isEqualTo(TIMEOUT);
        assertThat(options.getRequestQueueSize()).isEqualTo(77);
        assertThat(options.isPingBeforeActivateConnection()).isFalse();
    }

    @Test
    void givesAConnectionMoreTimeThanACommand() {
        LettuceClientConfiguration client =
                copyOf(LettuceClientConfiguration.defaultConfiguration()).getClientConfiguration();
        assertThat(client.getCommandTimeout()).isEqualTo(Duration.ofSeconds(2));
        assertThat(client.getClientOptions().orElseThrow().getSocketOptions().getConnectTimeout())
                .isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void keepsTheOptionsOfACluster() {
        ClusterClientOptions given =
                ClusterClientOptions.builder().maxRedirects(9).build();
        LettuceConnectionFactory copy = copyOf(
                new RedisClusterConfiguration(List.of("host:7000")),
                LettuceClientConfiguration.builder().clientOptions(given).build());
        assertThat(copy.getClientConfiguration().getClientOptions())
                .get()
                .isInstanceOfSatisfying(ClusterClientOptions.class, options -> {
                    assertThat(options.getMaxRedirects()).isEqualTo(9);
                    assertThat(options.getDisconnectedBehavior()).isEqualTo(DisconnectedBehavior.REJECT_COMMANDS);
                });
    }

    private static LettuceConnectionFactory copyOf(LettuceClientConfiguration client) {
        return copyOf(new RedisStandaloneConfiguration("host", 7000), client);
    }

    private static LettuceConnectionFactory copyOf(
            RedisConfiguration configuration, LettuceClientConfiguration client) {
        return LettuceFactories.copyOf(new LettuceConnectionFactory(configuration, client), TIMEOUT);
    }
}
