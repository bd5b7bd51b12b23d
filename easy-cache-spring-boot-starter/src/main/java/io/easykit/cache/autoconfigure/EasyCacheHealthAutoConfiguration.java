package io.easykit.cache.autoconfigure;

import io.easykit.boot.ConditionalOnEnabled;
import io.easykit.cache.EasyCache;
import io.easykit.cache.actuate.EasyCacheHealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the health contributor {@code easyCache}. */
@AutoConfiguration(after = EasyCacheAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnEnabledHealthIndicator("easyCache")
@ConditionalOnBean(EasyCache.class)
@ConditionalOnEnabled("easy-cache")
public final class EasyCacheHealthAutoConfiguration {

    EasyCacheHealthAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean(name = "easyCacheHealthIndicator")
    HealthIndicator easyCacheHealthIndicator(EasyCache cache) {
        return new EasyCacheHealthIndicator(cache);
    }
}
