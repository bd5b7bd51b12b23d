package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.ConditionalOnEnabled;
import io.easykit.boot.StartCheck;
import io.easykit.boot.StartReport;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.jackson.JacksonPayloadCodec;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of a disabled delay queue: defines the beans that applications inject, so that they start. Calls
 * fail, or are ignored if {@code delay-queue.when-disabled} is {@code ignore}. No listener starts, and Redis is not
 * used.
 */
@AutoConfiguration
@ConditionalOnEnabled(value = "delay-queue", enabled = false)
@EnableConfigurationProperties(DelayQueueProperties.class)
@Import({StartReport.class, EngineBeans.class})
public final class DisabledDelayQueueAutoConfiguration {

    private static final Logger log = LoggerFactory.getLogger("delay-queue");

    DisabledDelayQueueAutoConfiguration() {}

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static StartCheck delayQueueStartCheck(Environment environment) {
        return beans -> DelayQueueStartCheck.bind(environment).problems();
    }

    @Bean
    @ConditionalOnMissingBean
    DelayQueueEngine delayQueueEngine(DelayQueueProperties properties, ObjectProvider<PayloadCodec> codec) {
        log.warn(
                "The delay queue is disabled (delay-queue.enabled is false): no messages are delivered, and"
                        + " every send {}",
                properties.whenDisabled() == DisabledQueue.Calls.FAIL
                        ? "fails"
                        : "is discarded (delay-queue.when-disabled is ignore)");
        return DelayQueueEngine.builder(DisabledQueue.store(properties.whenDisabled()))
                .codec(codec.getIfAvailable(JacksonPayloadCodec::new))
                .build();
    }

    /** The registry of a disabled queue is empty. */
    @Bean
    @ConditionalOnMissingBean
    DelayListenerRegistry delayListenerRegistry() {
        return new DelayListenerRegistry(false);
    }
}
