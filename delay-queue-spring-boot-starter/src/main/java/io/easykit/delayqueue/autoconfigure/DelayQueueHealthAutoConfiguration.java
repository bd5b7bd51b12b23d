package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.admin.OutboxAdmin;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.delayqueue.metrics.TopicSnapshots;
import io.easykit.delayqueue.store.QueueBackend;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the health contributor {@code delayQueue}. */
@AutoConfiguration(after = DelayQueueAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnEnabledHealthIndicator("delayQueue")
@ConditionalOnBean(TopicSnapshots.class)
public final class DelayQueueHealthAutoConfiguration {

    DelayQueueHealthAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean(name = "delayQueueHealthIndicator")
    HealthIndicator delayQueueHealthIndicator(
            QueueBackend store,
            TopicSnapshots snapshots,
            DelayListenerRegistry registry,
            ObjectProvider<RedisStartupCheck> check,
            DelayQueueEngine engine) {
        return new DelayQueueHealthIndicator(store, snapshots, registry::topics, check.getIfAvailable(), () -> {
            OutboxAdmin outbox = engine.outbox();
            return outbox == null ? null : outbox.stats();
        });
    }
}
