package com.shop;

import io.easykit.test.RedisServer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;

/** Gives {@link ShopTests}, which is printed in the documentation as it stands, a Redis on the port that is free here. */
class RealRedis implements ContextCustomizerFactory {

    record ForShopTests() implements ContextCustomizer {

        @Override
        public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
            RedisServer server = RedisServer.shared();
            TestPropertyValues.of(
                            "spring.data.redis.host=" + server.host(),
                            "spring.data.redis.port=" + server.port(),
                            // The first calls of a cold JVM take long.
                            "easy-cache.command-timeout=10s",
                            "delay-queue.command-timeout=1m")
                    .applyTo(context);
        }
    }

    @Override
    public @Nullable ContextCustomizer createContextCustomizer(
            Class<?> test, List<ContextConfigurationAttributes> configuration) {
        return test == ShopTests.class ? new ForShopTests() : null;
    }
}
