package io.easykit.cache.autoconfigure;

import io.easykit.boot.ConditionalOnEnabled;
import io.easykit.cache.CacheListener;
import io.easykit.cache.EasyCache;
import io.easykit.cache.metrics.ClusterMeters;
import io.easykit.cache.metrics.MeteringCacheListener;
import io.easykit.cache.metrics.SerialMeters;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/** Auto-configuration of the cache's meters, if the application has a Micrometer registry. */
@AutoConfiguration(
        after = EasyCacheAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
@ConditionalOnEnabled("easy-cache")
public final class EasyCacheMetricsAutoConfiguration {

    EasyCacheMetricsAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean(name = "easyCacheMeters")
    CacheListener easyCacheMeters(MeterRegistry registry) {
        return new MeteringCacheListener(registry);
    }

    @Bean
    @ConditionalOnMissingBean(name = "easyCacheSerialMeters")
    CacheListener easyCacheSerialMeters(MeterRegistry registry) {
        return new SerialMeters(registry);
    }

    /** Not lazy: no other bean needs it. */
    @Bean
    @Lazy(false)
    @ConditionalOnBean(EasyCache.class)
    @ConditionalOnMissingBean(name = "easyCacheClusterMeters")
    ClusterMeters easyCacheClusterMeters(MeterRegistry registry, EasyCache cache) {
        return new ClusterMeters(registry, cache);
    }
}
