package io.easykit.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.Optional;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/** The client configuration of a copied factory: that of the original, but for options, timeouts and the choice of replicas. */
record DedicatedClient(
        LettuceClientConfiguration original,
        ClientResources resources,
        ClientOptions options,
        Duration connectTimeout,
        Transfers transfers)
        implements LettuceClientConfiguration {

    /** Returns the resources of the application, if it has its own, also for a copy, or a copy of one. */
    static Optional<ClientResources> resourcesOfApplication(LettuceClientConfiguration client) {
        return client instanceof DedicatedClient copy
                ? resourcesOfApplication(copy.original())
                : client.getClientResources();
    }

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
