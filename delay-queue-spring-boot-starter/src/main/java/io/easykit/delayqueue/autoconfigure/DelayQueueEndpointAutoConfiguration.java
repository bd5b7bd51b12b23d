package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.AuditKeeper;
import io.easykit.boot.OperatorAudit;
import io.easykit.boot.ShownValues;
import io.easykit.boot.ThisProcess;
import io.easykit.delayqueue.actuate.DelayQueueEndpoint;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the actuator endpoint {@code delayqueue}, of an enabled and of a disabled queue. */
@AutoConfiguration(after = {DelayQueueAutoConfiguration.class, DisabledDelayQueueAutoConfiguration.class})
@ConditionalOnClass({WebEndpoint.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnAvailableEndpoint(DelayQueueEndpoint.class)
@ConditionalOnBean({DelayQueueAdmin.class, FleetAdmin.class, DelayQueueProperties.class})
@EnableConfigurationProperties(DelayQueueEndpointProperties.class)
public final class DelayQueueEndpointAutoConfiguration {

    DelayQueueEndpointAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    DelayQueueEndpoint delayQueueEndpoint(
            DelayQueueProperties queue,
            DelayQueueEndpointProperties properties,
            ObjectProvider<DelayQueueAdmin> admins,
            ObjectProvider<FleetAdmin> fleets,
            ObjectProvider<SanitizingFunction> masks,
            ObjectProvider<AuditKeeper> keepers,
            ApplicationEventPublisher events) {
        DelayQueueAdmin admin = admins.getIfAvailable();
        FleetAdmin fleet = fleets.getIfAvailable();
        // Null if a test has replaced the engine by a mock.
        if (!queue.enabled() || admin == null || fleet == null) {
            return DelayQueueEndpoint.disabled();
        }
        AuditKeeper keeper = keepers.orderedStream().findFirst().orElse(AuditKeeper.NONE);
        return DelayQueueEndpoint.of(
                admin,
                fleet,
                ShownValues.maskedBy(masks.orderedStream().toList()),
                properties::seesValues,
                new OperatorAudit(ThisProcess.name(), System::currentTimeMillis, keeper, events));
    }
}
