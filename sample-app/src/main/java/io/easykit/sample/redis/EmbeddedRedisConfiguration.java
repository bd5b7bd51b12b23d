package io.easykit.sample.redis;

import java.io.IOException;
import java.nio.file.Path;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
@Conditional(NoRedisConfigured.class)
class EmbeddedRedisConfiguration {

    @Bean(destroyMethod = "close")
    EmbeddedRedis embeddedRedis(@Value("${shop.data-dir}") Path dataDirectory)
            throws IOException, InterruptedException {
        return EmbeddedRedis.start(dataDirectory.resolve("redis"));
    }

    @Bean
    DataRedisConnectionDetails embeddedRedisConnectionDetails(EmbeddedRedis redis) {
        return new DataRedisConnectionDetails() {
            @Override
            public String getPassword() {
                return redis.password();
            }

            @Override
            public Standalone getStandalone() {
                return Standalone.of("127.0.0.1", redis.port());
            }
        };
    }
}
