package io.easykit.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Copies the application's Lettuce connection factory for a product's own use: the same servers, credentials and TLS, with
 * connections of its own that
 * <ul>
 *   <li>fail a command that gets no reply within the command timeout;
 *   <li>reject commands while disconnected, at once, and replay none after a reconnect;
 *   <li>have no limit for the number of commands that wait for a reply;
 *   <li>try to reconnect at least every half second;
 *   <li>follow the topology of a cluster, over the connections they have ({@link ClusterClient});
 *   <li>use the master only;
 *   <li>are not traced, because products poll Redis all the time;
 *   <li>are watched for large values in transit ({@link Transfers}).
 * </ul>
 */
public final class DedicatedConnections {

    /**
     * Minimum connect timeout: the first connection of a JVM loads classes, resolves names and does the handshake.
     * Callers do not wait for it.
     */
    private static final Duration LEAST_CONNECT_TIMEOUT = Duration.ofSeconds(2);

    private static final Duration LEAST_REFRESH_PAUSE = Duration.ofSeconds(1);

    private DedicatedConnections() {}

    /**
     * Returns a factory that has not been started. The caller starts, stops and destroys it; the original is not changed.
     *
     * @param commandTimeout maximum time to wait for a reply, at least 1 ms. Connecting may take up to two seconds
     *     longer
     */
    public static LettuceConnectionFactory copyOf(LettuceConnectionFactory original, Duration commandTimeout) {
        return copyOf(
                original,
                commandTimeout,
                DedicatedResources.shared(original.getClientConfiguration().getClientResources()));
    }

    /** Like {@link #copyOf}, with threads of its own: it works after the client resources of the original were shut down. */
    public static LettuceConnectionFactory independentCopyOf(
            LettuceConnectionFactory original, Duration commandTimeout) {
        return copyOf(
                original,
                commandTimeout,
                DedicatedResources.independent(
                        DedicatedClient.resourcesOfApplication(original.getClientConfiguration())));
    }

    private static LettuceConnectionFactory copyOf(
            LettuceConnectionFactory original, Duration commandTimeout, DedicatedResources resources) {
        if (commandTimeout.toMillis() < 1) {
            throw new IllegalArgumentException(
                    "The command timeout is " + commandTimeout + ". It must be at least 1 ms.");
        }
        RedisConfiguration configuration = configurationOf(original);
        LettuceClientConfiguration client = original.getClientConfiguration();
        ClientOptions options = client.getClientOptions().orElseGet(ClientOptions::create);
        if (configuration instanceof RedisClusterConfiguration cluster) {
            options = clusterOptions(options, cluster);
            configuration = withoutRedirects(cluster);
        }
        Transfers transfers = new Transfers();
        LettuceConnectionFactory copy = new DedicatedFactory(
                configuration,
                new DedicatedClient(
                        client,
                        resources.adjusted(transfers),
                        strict(options, commandTimeout),
                        connectTimeout(commandTimeout),
                        transfers),
                resources);
        copy.setPhase(original.getPhase());
        return copy;
    }

    static Transfers transfersOf(LettuceConnectionFactory factory, Transfers other) {
        return factory.getClientConfiguration() instanceof DedicatedClient client ? client.transfers() : other;
    }

    /** Returns the maximum time that a command of this factory waits for a reply. */
    public static Duration commandTimeoutOf(LettuceConnectionFactory factory) {
        Optional<TimeoutOptions> timeouts =
                factory.getClientConfiguration().getClientOptions().map(ClientOptions::getTimeoutOptions);
        if (timeouts.isPresent() && timeouts.get().isTimeoutCommands()) {
            TimeoutOptions.TimeoutSource source = timeouts.get().getSource();
            long timeout = source.getTimeout(new Command<>(CommandType.PING, null));
            if (timeout > 0) {
                return Duration.ofNanos(source.getTimeUnit().toNanos(timeout));
            }
        }
        return Duration.ofMillis(factory.getTimeout());
    }

    private static Duration connectTimeout(Duration commandTimeout) {
        return commandTimeout.compareTo(LEAST_CONNECT_TIMEOUT) > 0 ? commandTimeout : LEAST_CONNECT_TIMEOUT;
    }

    /**
     * Spring Data has no getter for the configuration of a static master with replicas. The getter of the standalone
     * configuration returns localhost there.
     */
    private static RedisConfiguration configurationOf(LettuceConnectionFactory original) {
        Object configuration = new DirectFieldAccessor(original).getPropertyValue("configuration");
        return (RedisConfiguration) Objects.requireNonNull(configuration);
    }

    private static ClientOptions strict(ClientOptions options, Duration commandTimeout) {
        return options.mutate()
                .autoReconnect(true)
                // A limit bounds the commands that wait for a connection. Here these fail at once, so a limit
                // would only refuse commands of many threads while Redis replies.
                .requestQueueSize(ClientOptions.DEFAULT_REQUEST_QUEUE_SIZE)
                .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                .replayFilter(DedicatedConnections::failUnsent)
                .timeoutOptions(TimeoutOptions.builder()
                        .timeoutSource(new ReplyTimeout(commandTimeout))
                        .build())
                .socketOptions(options.getSocketOptions()
                        .mutate()
                        .connectTimeout(connectTimeout(commandTimeout))
                        .build())
                .build();
    }

    /**
     * A replay filter that accepts every command. Lettuce drops those, and their callers would wait until the command timeout.
     * They are commands that a connection did not take because it was just being closed, so Redis does not run them.
     */
    private static boolean failUnsent(RedisCommand<?, ?, ?> command) {
        command.completeExceptionally(
                new NotConnectedException("The connection was lost before the command was sent", null));
        return true;
    }

    private static ClusterClientOptions clusterOptions(ClientOptions options, RedisClusterConfiguration cluster) {
        ClusterClientOptions clustered = options instanceof ClusterClientOptions some
                ? some
                : ClusterClientOptions.builder(options).build();
        ClusterClientOptions.Builder builder = clustered.mutate();
        if (cluster.getMaxRedirects() != null) {
            builder.maxRedirects(cluster.getMaxRedirects());
        }
        return builder.topologyRefreshOptions(topologyRefresh(clustered.getTopologyRefreshOptions()))
                .build();
    }

    /** Uses all adaptive triggers, the default of Lettuce. Without them the client would not follow a fail-over. */
    private static ClusterTopologyRefreshOptions topologyRefresh(ClusterTopologyRefreshOptions given) {
        ClusterTopologyRefreshOptions.Builder refresh = ClusterTopologyRefreshOptions.builder()
                .adaptiveRefreshTriggersTimeout(LEAST_REFRESH_PAUSE)
                .dynamicRefreshSources(given.useDynamicRefreshSources());
        return given.isPeriodicRefreshEnabled()
                ? refresh.enablePeriodicRefresh(given.getRefreshPeriod()).build()
                : refresh.build();
    }

    /**
     * Leaves out the redirect limit: to apply it, the factory would copy the client options and lose the replay filter.
     */
    private static RedisClusterConfiguration withoutRedirects(RedisClusterConfiguration cluster) {
        RedisClusterConfiguration copy = new RedisClusterConfiguration();
        copy.setClusterNodes(cluster.getClusterNodes());
        copy.setUsername(cluster.getUsername());
        copy.setPassword(cluster.getPassword());
        return copy;
    }

    private static final class DedicatedFactory extends LettuceConnectionFactory {

        private final DedicatedResources resources;

        DedicatedFactory(
                RedisConfiguration configuration, LettuceClientConfiguration client, DedicatedResources resources) {
            super(configuration, client);
            this.resources = resources;
        }

        @Override
        protected AbstractRedisClient createClient() {
            AbstractRedisClient client = super.createClient();
            return client instanceof RedisClusterClient cluster
                    ? ClusterClient.like(cluster, ClusterClient.ADDRESSES)
                    : client;
        }

        @Override
        public void destroy() {
            super.destroy();
            resources.shutdown();
        }
    }
}
