package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.delayqueue.metrics.DelayQueueMeters;
import io.easykit.delayqueue.metrics.FleetNumbers;
import io.easykit.delayqueue.metrics.MasterPing;
import io.easykit.delayqueue.metrics.OutboxGauges;
import io.easykit.delayqueue.metrics.TopicSnapshots;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.time.VirtualTime;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

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
    DelayQueueMeters delayQueueMeters(
            MeterRegistry meters,
            TopicSnapshots snapshots,
            DelayListenerRegistry registry,
            ObjectProvider<DelayQueueEngine> engine,
            ObjectProvider<QueueBackend> store,
            ObjectProvider<VirtualTime> virtualTime) {
        VirtualTime time = virtualTime.getIfAvailable();
        FleetNumbers numbers = new FleetNumbers(
                snapshots,
                () -> engine.getObject().fleet().nodes(),
                new MasterPing(shard -> store.getObject().stats(shard)),
                time == null ? System::nanoTime : time::nanos);
        return new DelayQueueMeters(meters, numbers, registry::containers);
    }

    /** No bean requests the gauges, so they would not exist in an application with lazy initialization. */
    @Bean
    @Lazy(false)
    @ConditionalOnMissingBean
    OutboxGauges delayQueueOutboxGauges(MeterRegistry meters, DelayQueueEngine engine) {
        return new OutboxGauges(meters, engine.outbox());
    }
}
