package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.ShownValues;
import io.easykit.delayqueue.actuate.DelayQueueEndpoint;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.FleetAdmin;
import java.util.List;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.Sanitizer;
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
            DelayQueueAdmin admin,
            FleetAdmin fleet,
            ObjectProvider<SanitizingFunction> masks,
            ApplicationEventPublisher events) {
        return queue.enabled()
                ? DelayQueueEndpoint.of(admin, fleet, new ShownValues(mask(masks)), properties::seesValues, events)
                : DelayQueueEndpoint.disabled();
    }

    private static @Nullable BinaryOperator<String> mask(ObjectProvider<SanitizingFunction> masks) {
        List<SanitizingFunction> all = masks.orderedStream().toList();
        if (all.isEmpty()) {
            return null;
        }
        Sanitizer sanitizer = new Sanitizer(all);
        return (name, value) -> String.valueOf(sanitizer.sanitize(new SanitizableData(null, name, value), true));
    }
}
