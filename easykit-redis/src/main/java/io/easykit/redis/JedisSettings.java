package io.easykit.redis;

import java.time.Duration;
import java.util.Optional;
import javax.net.ssl.HostnameVerifier;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocketFactory;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.jedis.JedisClientBuilderCustomizer;
import org.springframework.data.redis.connection.jedis.JedisClientConfigBuilderCustomizer;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.JedisClientConfig;

/**
 * The application's settings of Jedis, with the timeouts and the pool of a product.
 *
 * @param timeout of each step of a call
 * @param idle time after which an idle connection is closed
 */
record JedisSettings(JedisClientConfiguration original, Duration timeout, Duration idle)
        implements JedisClientConfiguration {

    /** Maximum number of calls to one server at a time. Further ones wait. */
    private static final int CONNECTIONS = 16;

    /** Returns the settings of a connection, as Spring Data makes them for its own ones. */
    JedisClientConfig config(int database, @Nullable String user, RedisPassword password) {
        DefaultJedisClientConfig.Builder config =
                DefaultJedisClientConfig.builder().database(database).ssl(isUseSsl());
        if (user != null && !user.isEmpty()) {
            config.user(user);
        }
        password.toOptional().map(String::new).ifPresent(config::password);
        getClientName().ifPresent(config::clientName);
        getSslSocketFactory().ifPresent(config::sslSocketFactory);
        getSslParameters().ifPresent(config::sslParameters);
        getHostnameVerifier().ifPresent(config::hostnameVerifier);
        getClientConfigCustomizer().ifPresent(customizer -> customizer.customize(config));
        return config.build();
    }

    /** The application's own customizer may set the timeouts, so they are set after it. */
    @Override
    public Optional<JedisClientConfigBuilderCustomizer> getClientConfigCustomizer() {
        return Optional.of(builder -> {
            original.getClientConfigCustomizer().ifPresent(own -> own.customize(builder));
            builder.connectionTimeoutMillis((int) timeout.toMillis())
                    .socketTimeoutMillis((int) timeout.toMillis())
                    // Subscriptions, which wait for as long as no message comes.
                    .blockingSocketTimeoutMillis(0);
        });
    }

    @Override
    public Optional<JedisClientBuilderCustomizer> getClientCustomizer() {
        return original.getClientCustomizer();
    }

    @Override
    public boolean isUseSsl() {
        return original.isUseSsl();
    }

    @Override
    public Optional<SSLSocketFactory> getSslSocketFactory() {
        return original.getSslSocketFactory();
    }

    @Override
    public Optional<SSLParameters> getSslParameters() {
        return original.getSslParameters();
    }

    @Override
    public Optional<HostnameVerifier> getHostnameVerifier() {
        return original.getHostnameVerifier();
    }

    @Override
    public boolean isUsePooling() {
        return true;
    }

    @Override
    public Optional<GenericObjectPoolConfig<?>> getPoolConfig() {
        return Optional.of(limits());
    }

    /** Returns the limits of a pool. */
    <T> GenericObjectPoolConfig<T> limits() {
        GenericObjectPoolConfig<T> pool = new GenericObjectPoolConfig<>();
        pool.setMaxTotal(CONNECTIONS);
        pool.setMaxIdle(CONNECTIONS);
        pool.setMaxWait(timeout);
        pool.setMinEvictableIdleDuration(idle);
        pool.setTimeBetweenEvictionRuns(idle.dividedBy(2));
        pool.setNumTestsPerEvictionRun(CONNECTIONS);
        pool.setJmxEnabled(false);
        return pool;
    }

    @Override
    public Optional<String> getClientName() {
        return original.getClientName();
    }

    @Override
    public Duration getConnectTimeout() {
        return timeout;
    }

    @Override
    public Duration getReadTimeout() {
        return timeout;
    }
}
