package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the queue's meters, if the application has a Micrometer registry. */
@AutoConfiguration(
        after = DelayQueueAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({MeterRegistry.class, TopicSnapshots.class})
public final class DelayQueueMetricsAutoConfiguration {

    DelayQueueMetricsAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean(name = "delayQueueMeters")
    DelayQueueListener delayQueueMeters(
            MeterRegistry meters, TopicSnapshots snapshots, DelayListenerRegistry registry) {
        return new DelayQueueMeters(meters, snapshots, registry::topics);
    }
}
