package io.easykit.cache.autoconfigure;

import io.easykit.boot.ConditionalOnEnabled;
import io.easykit.cache.LoadObserver;
import io.easykit.cache.metrics.LoadObservations;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the observation of loads, if the application has an {@link ObservationRegistry}. */
@AutoConfiguration(
        afterName = "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration")
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean(ObservationRegistry.class)
@ConditionalOnEnabled("easy-cache")
public final class EasyCacheObservationAutoConfiguration {

    EasyCacheObservationAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    LoadObserver easyCacheLoadObserver(ObservationRegistry registry) {
        return new LoadObservations(registry);
    }
}
