package io.easykit.cache.autoconfigure;

import io.easykit.boot.AuditKeeper;
import io.easykit.boot.ConditionalOnEnabled;
import io.easykit.boot.OperatorAudit;
import io.easykit.boot.ThisProcess;
import io.easykit.cache.EasyCache;
import io.easykit.cache.actuate.EasyCacheEndpoint;
import io.easykit.cache.actuate.EasyCacheEndpointWebExtension;
import io.easykit.cache.admin.EasyCacheAdmin;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the actuator endpoint {@code easycache}. */
@AutoConfiguration(after = EasyCacheAdminAutoConfiguration.class)
@ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnAvailableEndpoint(EasyCacheEndpoint.class)
@ConditionalOnBean(EasyCache.class)
@ConditionalOnEnabled("easy-cache")
public final class EasyCacheEndpointAutoConfiguration {

    EasyCacheEndpointAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    EasyCacheEndpoint easyCacheEndpoint(
            EasyCache cache,
            ObjectProvider<EasyCacheAdmin> admin,
            ObjectProvider<AuditKeeper> keepers,
            ApplicationEventPublisher events) {
        AuditKeeper keeper = keepers.orderedStream().findFirst().orElse(AuditKeeper.NONE);
        return new EasyCacheEndpoint(
                cache,
                admin.getIfAvailable(),
                new OperatorAudit(ThisProcess.name(), System::currentTimeMillis, keeper, events));
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnBean(EasyCacheEndpoint.class)
    EasyCacheEndpointWebExtension easyCacheEndpointWebExtension(EasyCacheEndpoint endpoint) {
        return new EasyCacheEndpointWebExtension(endpoint);
    }
}
