package io.easykit.cache.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import java.time.Duration;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceSslClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Connection factories for the cache, made from those of an application. */
public final class LettuceFactories {

    /** The first connection of a JVM loads classes, asks for names and shakes hands. */
    private static final Duration TO_CONNECT = Duration.ofSeconds(2);

    private LettuceFactories() {}

    /**
     * A factory for the same Redis with the same credentials, TLS, client name and client resources, but with what a cache
     * needs: a short timeout for each command, commands that are rejected while disconnected instead of
     * queued, and reads from the master always.
     *
     * <p>The caller starts and stops it. The given factory stays as it is, and may have been started.
     *
     * @param commandTimeout for each command. To connect may take longer, since nobody waits for that longer than for a
     *     command
     */
    public static LettuceConnectionFactory copyOf(LettuceConnectionFactory factory, Duration commandTimeout) {
        LettuceConnectionFactory copy =
                new LettuceConnectionFactory(configurationOf(factory), clientOf(factory, commandTimeout));
        copy.setPhase(factory.getPhase());
        return copy;
    }

    /** Single, Sentinel, Cluster, socket, or a static master with replicas; the last has no getter. */
    private static RedisConfiguration configurationOf(LettuceConnectionFactory factory) {
        Object configuration = new DirectFieldAccessor(factory).getPropertyValue("configuration");
        return configuration instanceof RedisConfiguration known ? known : factory.getStandaloneConfiguration();
    }

    private static LettuceClientConfiguration clientOf(LettuceConnectionFactory factory, Duration commandTimeout) {
        LettuceClientConfiguration given = factory.getClientConfiguration();
        LettuceClientConfigurationBuilder client = LettuceClientConfiguration.builder()
                .commandTimeout(toConnect(commandTimeout))
                .shutdownTimeout(given.getShutdownTimeout())
                .shutdownQuietPeriod(given.getShutdownQuietPeriod())
                .clientOptions(options(given, commandTimeout));
        given.getClientName().ifPresent(client::clientName);
        given.getClientResources().ifPresent(client::clientResources);
        given.getRedisCredentialsProviderFactory().ifPresent(client::redisCredentialsProviderFactory);
        if (given.isUseSsl()) {
            LettuceSslClientConfigurationBuilder tls = client.useSsl().verifyPeer(given.getVerifyMode());
            if (given.isStartTls()) {
                tls.startTls();
            }
        }
        return client.build();
    }

    /** For the handshake Lettuce takes what it calls the command timeout; that of commands proper is among the options. */
    private static Duration toConnect(Duration commandTimeout) {
        return commandTimeout.compareTo(TO_CONNECT) > 0 ? commandTimeout : TO_CONNECT;
    }

    private static ClientOptions options(LettuceClientConfiguration given, Duration commandTimeout) {
        ClientOptions options = given.getClientOptions().orElseGet(ClientOptions::create);
        ClientOptions.Builder builder =
                options instanceof ClusterClientOptions cluster ? cluster.mutate() : options.mutate();
        SocketOptions sockets = options.getSocketOptions()
                .mutate()
                .connectTimeout(toConnect(commandTimeout))
                .build();
        return builder.disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                .socketOptions(sockets)
                .timeoutOptions(TimeoutOptions.enabled(commandTimeout))
                .build();
    }
}
