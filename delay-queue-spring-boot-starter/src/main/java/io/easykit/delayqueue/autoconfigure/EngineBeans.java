package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.LettuceHints;
import io.easykit.boot.SettingsReport;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.admin.ActionLog;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;

/** Beans of an enabled and of a disabled delay queue, made from its {@link DelayQueueEngine}. */
@Configuration(proxyBeanMethods = false)
@ImportRuntimeHints({DelayQueueHints.class, LettuceHints.class})
class EngineBeans {

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static SettingsReport delayQueueSettingsReport() {
        return new SettingsReport("delay-queue");
    }

    @Bean
    @ConditionalOnMissingBean
    DelayQueueTemplate delayQueueTemplate(DelayQueueEngine engine) {
        return engine.template();
    }

    @Bean
    @ConditionalOnMissingBean
    DelayQueueAdmin delayQueueAdmin(DelayQueueEngine engine) {
        return engine.admin();
    }

    @Bean
    @ConditionalOnMissingBean
    FleetAdmin delayQueueFleetAdmin(DelayQueueEngine engine) {
        return engine.fleet();
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    ActionLog delayQueueActionLog(DelayQueueEngine engine) {
        return engine.actions();
    }
}
