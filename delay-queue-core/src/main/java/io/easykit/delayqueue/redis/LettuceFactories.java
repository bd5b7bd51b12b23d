package io.easykit.delayqueue.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.tracing.Tracing;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/**
 * Makes a connection factory for the queue from one that the application has: the same servers, credentials and TLS, with
 * connections of its own that
 * <ul>
 *   <li>answer within the command timeout, also the first time;
 *   <li>reject commands while disconnected, instead of keeping them for later;
 *   <li>replay nothing after a reconnect, see {@link RedisQueueStore};
 *   <li>ask the master only;
 *   <li>are not traced, since the queue looks at its shards once a second for ever.
 * </ul>
 */
public final class LettuceFactories {

    private LettuceFactories() {}

    /**
     * A factory that has not been started; whoever asks for it starts, stops and destroys it. The original is left as it is.
     *
     * @param commandTimeout until a call without an answer fails
     */
    public static LettuceConnectionFactory copyOf(LettuceConnectionFactory original, Duration commandTimeout) {
        if (commandTimeout.toMillis() < 1) {
            throw new IllegalArgumentException(
                    "The command timeout is " + commandTimeout + ": give a millisecond at least.");
        }
        RedisConfiguration configuration = configurationOf(original);
        LettuceClientConfiguration client = original.getClientConfiguration();
        ClientOptions options = client.getClientOptions().orElseGet(ClientOptions::create);
        if (configuration instanceof RedisClusterConfiguration cluster) {
            options = clusterOptions(options, cluster);
            configuration = withoutRedirects(cluster);
        }
        Optional<ClientResources> resources = client.getClientResources().map(LettuceFactories::untraced);
        LettuceConnectionFactory copy = new LettuceConnectionFactory(
                configuration, new DedicatedClient(client, resources, strict(options, commandTimeout), commandTimeout));
        copy.setEarlyStartup(false);
        return copy;
    }

    /** There is no getter for a static master with replicas, for which the getter for one server says localhost. */
    private static RedisConfiguration configurationOf(LettuceConnectionFactory original) {
        Object configuration = new DirectFieldAccessor(original).getPropertyValue("configuration");
        return (RedisConfiguration) Objects.requireNonNull(configuration);
    }

    /**
     * The same threads and timers, not traced. The resources' own way to change one setting makes others that take the
     * threads along when they are shut down.
     */
    private static ClientResources untraced(ClientResources shared) {
        if (!shared.tracing().isEnabled()) {
            return shared;
        }
        return (ClientResources) Proxy.newProxyInstance(
                LettuceFactories.class.getClassLoader(),
                new Class<?>[] {ClientResources.class},
                (proxy, method, arguments) -> {
                    try {
                        return method.getName().equals("tracing")
                                ? Tracing.disabled()
                                : method.invoke(shared, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                });
    }

    private static ClientOptions strict(ClientOptions options, Duration commandTimeout) {
        return options.mutate()
                .autoReconnect(true)
                .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                .replayFilter(command -> true)
                .timeoutOptions(TimeoutOptions.enabled(commandTimeout))
                .socketOptions(options.getSocketOptions()
                        .mutate()
                        .connectTimeout(commandTimeout)
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
        return builder.build();
    }

    /** To apply this setting, the factory would copy the options in a way that loses the replay filter. */
    private static RedisClusterConfiguration withoutRedirects(RedisClusterConfiguration cluster) {
        RedisClusterConfiguration copy = new RedisClusterConfiguration();
        copy.setClusterNodes(cluster.getClusterNodes());
        copy.setUsername(cluster.getUsername());
        copy.setPassword(cluster.getPassword());
        return copy;
    }

    private record DedicatedClient(
            LettuceClientConfiguration original,
            Optional<ClientResources> resources,
            ClientOptions options,
            Duration timeout)
            implements LettuceClientConfiguration {

        @Override
        public Optional<ClientOptions> getClientOptions() {
            return Optional.of(options);
        }

        @Override
        public Duration getCommandTimeout() {
            return timeout;
        }

        @Override
        public Optional<ClientResources> getClientResources() {
            return resources;
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
