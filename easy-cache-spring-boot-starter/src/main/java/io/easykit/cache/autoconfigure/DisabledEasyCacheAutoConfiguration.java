package io.easykit.cache.autoconfigure;

import io.easykit.boot.ConditionalOnEnabled;
import io.easykit.cache.EasyCache;
import io.easykit.cache.ValueCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Auto-configuration of a cache that is switched off: the beans that applications inject, so that these start. Annotated
 * methods just run, and so do the loaders and actions that are given to {@link EasyCache}. No Redis is used.
 */
@AutoConfiguration
@ConditionalOnEnabled(value = "easy-cache", enabled = false)
public final class DisabledEasyCacheAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger("easy-cache");

    DisabledEasyCacheAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    ValueCodec easyCacheValueCodec() {
        return EasyCacheAutoConfiguration.valueCodec();
    }

    @Bean
    @ConditionalOnMissingBean
    EasyCache easyCache(ValueCodec codec) {
        log.warn(
                "The cache is switched off (easy-cache.enabled): methods just run, and no update is invalidated in Redis. If"
                        + " other processes cache the same data, they may return old values until the TTL.");
        return EasyCache.builder(codec).disabled().build();
    }
}
