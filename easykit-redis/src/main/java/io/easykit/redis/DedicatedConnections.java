package io.easykit.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.NettyCustomizer;
import io.lettuce.core.tracing.Tracing;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/**
 * Copies the application's Lettuce connection factory for a product's own use: the same servers, credentials and TLS, with
 * connections of its own that
 * <ul>
 *   <li>fail a command that gets no reply within the command timeout;
 *   <li>reject commands while disconnected, and replay none after a reconnect;
 *   <li>try to reconnect at least every half second;
 *   <li>follow the topology of a cluster;
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

    private static final Delay RECONNECT_DELAY =
            Delay.exponential(Duration.ofMillis(1), Duration.ofMillis(500), 2, TimeUnit.MILLISECONDS);

    private static final Duration LEAST_REFRESH_PAUSE = Duration.ofSeconds(1);

    private static final Duration SHUTDOWN = Duration.ofSeconds(2);

    private DedicatedConnections() {}

    /**
     * Returns a factory that has not been started. The caller starts, stops and destroys it; the original is not changed.
     *
     * @param commandTimeout maximum time to wait for a reply, at least 1 ms. Connecting may take up to two seconds
     *     longer
     */
    public static LettuceConnectionFactory copyOf(LettuceConnectionFactory original, Duration commandTimeout) {
        return copyOf(
                original, commandTimeout, original.getClientConfiguration().getClientResources());
    }

    /** Like {@link #copyOf}, with threads of its own: it works after the client resources of the original were shut down. */
    public static LettuceConnectionFactory independentCopyOf(
            LettuceConnectionFactory original, Duration commandTimeout) {
        return copyOf(original, commandTimeout, Optional.empty());
    }

    private static LettuceConnectionFactory copyOf(
            LettuceConnectionFactory original, Duration commandTimeout, Optional<ClientResources> shared) {
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
        OwnResources own = new OwnResources();
        Supplier<ClientResources> resources = shared.isPresent() ? shared::get : own::get;
        LettuceConnectionFactory copy = new DedicatedFactory(
                configuration,
                new DedicatedClient(
                        client,
                        adjusted(resources, transfers),
                        strict(options, commandTimeout),
                        connectTimeout(commandTimeout),
                        transfers),
                own);
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

    /**
     * The same threads and timers, without tracing and with a short reconnect delay. {@code ClientResources.mutate()} cannot
     * do this: its copies shut the shared threads down with them.
     */
    private static ClientResources adjusted(Supplier<ClientResources> shared, Transfers transfers) {
        return (ClientResources) Proxy.newProxyInstance(
                DedicatedConnections.class.getClassLoader(),
                new Class<?>[] {ClientResources.class},
                (proxy, method, arguments) -> {
                    try {
                        return switch (method.getName()) {
                            case "tracing" -> Tracing.disabled();
                            case "reconnectDelay" -> RECONNECT_DELAY;
                            case "nettyCustomizer" -> Watching.over(shared.get().nettyCustomizer(), transfers);
                            default -> method.invoke(shared.get(), arguments);
                        };
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                });
    }

    /**
     * Watches each connection.
     *
     * @param given the customizer of the original; of an original that is a copy itself, that of its original
     */
    private record Watching(NettyCustomizer given, Transfers transfers) implements NettyCustomizer {

        static Watching over(NettyCustomizer given, Transfers transfers) {
            return new Watching(given instanceof Watching other ? other.given : given, transfers);
        }

        @Override
        public void afterBootstrapInitialized(Bootstrap bootstrap) {
            given.afterBootstrapInitialized(bootstrap);
        }

        @Override
        public void afterChannelInitialized(Channel channel) {
            given.afterChannelInitialized(channel);
            transfers.watch(channel);
        }
    }

    private static ClientOptions strict(ClientOptions options, Duration commandTimeout) {
        return options.mutate()
                .autoReconnect(true)
                .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                .replayFilter(command -> true)
                .timeoutOptions(TimeoutOptions.builder()
                        .timeoutSource(new ReplyTimeout(commandTimeout))
                        .build())
                .socketOptions(options.getSocketOptions()
                        .mutate()
                        .connectTimeout(connectTimeout(commandTimeout))
                        .build())
                .build();
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

    /** The client resources of a copy whose original lets Lettuce create its own. Created on first use. */
    private static final class OwnResources {

        private @Nullable ClientResources resources;

        synchronized ClientResources get() {
            ClientResources present = resources;
            if (present == null) {
                present = ClientResources.create();
                resources = present;
            }
            return present;
        }

        synchronized void shutdown() {
            if (resources != null) {
                resources
                        .shutdown(0, SHUTDOWN.toMillis(), TimeUnit.MILLISECONDS)
                        .awaitUninterruptibly(SHUTDOWN.toMillis());
                resources = null;
            }
        }
    }

    /** How long a command may wait for its reply. */
    private static final class ReplyTimeout extends TimeoutOptions.TimeoutSource {

        private final Duration commandTimeout;

        ReplyTimeout(Duration commandTimeout) {
            this.commandTimeout = commandTimeout;
        }

        @Override
        public long getTimeout(RedisCommand<?, ?, ?> command) {
            return commandTimeout.plus(WaitCommand.waitOf(command)).toNanos();
        }

        @Override
        public TimeUnit getTimeUnit() {
            return TimeUnit.NANOSECONDS;
        }
    }

    private static final class DedicatedFactory extends LettuceConnectionFactory {

        private final OwnResources own;

        DedicatedFactory(RedisConfiguration configuration, LettuceClientConfiguration client, OwnResources own) {
            super(configuration, client);
            this.own = own;
        }

        @Override
        public void destroy() {
            super.destroy();
            own.shutdown();
        }
    }

    private record DedicatedClient(
            LettuceClientConfiguration original,
            ClientResources resources,
            ClientOptions options,
            Duration connectTimeout,
            Transfers transfers)
            implements LettuceClientConfiguration {

        @Override
        public Optional<ClientOptions> getClientOptions() {
            return Optional.of(options);
        }

        /** Lettuce uses this value for the handshake. Commands use the timeout in the client options. */
        @Override
        public Duration getCommandTimeout() {
            return connectTimeout;
        }

        @Override
        public Optional<ClientResources> getClientResources() {
            return Optional.of(resources);
        }

        @Override
        public Optional<ReadFrom> getReadFrom() {
            return Optional.empty();
        }

        @Override
        public boolean isUseSsl() {
            return original.isUseSsl();
        }

        @Override
        @Deprecated(since = "3.4")
        public boolean isVerifyPeer() {
            return original.isVerifyPeer();
        }

        @Override
        public SslVerifyMode getVerifyMode() {
            return original.getVerifyMode();
        }

        @Override
        public boolean isStartTls() {
            return original.isStartTls();
        }

        @Override
        public Optional<String> getClientName() {
            return original.getClientName();
        }

        @Override
        public Optional<RedisCredentialsProviderFactory> getRedisCredentialsProviderFactory() {
            return original.getRedisCredentialsProviderFactory();
        }

        @Override
        public Duration getShutdownTimeout() {
            return original.getShutdownTimeout();
        }

        @Override
        public Duration getShutdownQuietPeriod() {
            return original.getShutdownQuietPeriod();
        }
    }
}
