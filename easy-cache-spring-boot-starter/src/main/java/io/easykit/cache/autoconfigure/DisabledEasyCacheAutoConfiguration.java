package io.easykit.cache.autoconfigure;

import io.easykit.boot.ConditionalOnEnabled;
import io.easykit.cache.EasyCache;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of a disabled cache: defines the beans that applications inject, so that they start. Annotated
 * methods, and the loaders and actions passed to {@link EasyCache}, run without a cache. Redis is not used.
 */
@AutoConfiguration
@ConditionalOnEnabled(value = "easy-cache", enabled = false)
public final class DisabledEasyCacheAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger("easy-cache");

    DisabledEasyCacheAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    ValueCodec easyCacheValueCodec() {
        return new JacksonValueCodec();
    }

    @Bean
    @ConditionalOnMissingBean(EasyCache.class)
    EasyCacheEngine easyCache(ValueCodec codec) {
        log.warn("The cache is disabled (easy-cache.enabled is false): methods run uncached, and updates"
                + " invalidate nothing in Redis. Other processes that cache the same data may return"
                + " stale values until the TTL.");
        return EasyCacheEngine.builder(codec).disabled().build();
    }
}
