package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import javax.net.ssl.HostnameVerifier;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisProtocol;

class JedisSettingsTests {

    private static final Duration TIMEOUT = Duration.ofMillis(700);

    @Test
    void keepsTheApplicationsSettingsButForTheTimeouts() {
        SSLSocketFactory sockets = (SSLSocketFactory) SSLSocketFactory.getDefault();
        SSLParameters parameters = new SSLParameters();
        HostnameVerifier verifier = (host, session) -> true;
        JedisClientConfiguration application = JedisClientConfiguration.builder()
                .clientName("shop")
                .connectTimeout(Duration.ofSeconds(9))
                .readTimeout(Duration.ofSeconds(9))
                .useSsl()
                .sslSocketFactory(sockets)
                .sslParameters(parameters)
                .hostnameVerifier(verifier)
                .and()
                .customizeClientConfig(config -> config.protocol(RedisProtocol.RESP3)
                        .socketTimeoutMillis(9)
                        .blockingSocketTimeoutMillis(9))
                .build();

        JedisClientConfig config = new JedisSettings(application, TIMEOUT, Duration.ofMinutes(1))
                .config(3, "user", RedisPassword.of("secret"));

        assertThat(config.getDatabase()).isEqualTo(3);
        assertThat(config.getUser()).isEqualTo("user");
        assertThat(config.getPassword()).isEqualTo("secret");
        assertThat(config.getClientName()).isEqualTo("shop");
        assertThat(config.isSsl()).isTrue();
        assertThat(config.getSslSocketFactory()).isSameAs(sockets);
        assertThat(config.getSslParameters()).isSameAs(parameters);
        assertThat(config.getHostnameVerifier()).isSameAs(verifier);
        assertThat(config.getRedisProtocol()).isEqualTo(RedisProtocol.RESP3);
        assertThat(config.getConnectionTimeoutMillis()).isEqualTo(700);
        assertThat(config.getSocketTimeoutMillis()).isEqualTo(700);
        assertThat(config.getBlockingSocketTimeoutMillis())
                .as("of a subscription, which waits for ever")
                .isZero();
    }

    @Test
    void hasNoUserWhereTheApplicationHasNone() {
        JedisClientConfig config = new JedisSettings(
                        JedisClientConfiguration.defaultConfiguration(), TIMEOUT, Duration.ofMinutes(1))
                .config(0, "", RedisPassword.none());

        assertThat(config.getUser()).isNull();
        assertThat(config.getPassword()).isNull();
        assertThat(config.isSsl()).isFalse();
    }
}
