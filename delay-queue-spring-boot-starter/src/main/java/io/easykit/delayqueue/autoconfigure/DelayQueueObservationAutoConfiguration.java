package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.ConditionalOnEnabled;
import io.easykit.delayqueue.observation.LinkedTracing;
import io.easykit.delayqueue.observation.ObservedMessages;
import io.easykit.delayqueue.observation.SendTracing;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.propagation.Propagator;
import java.util.List;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/** Auto-configuration of observations and spans, if the application has a registry for observations. */
@AutoConfiguration(
        before = DelayQueueAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
            "org.springframework.boot.micrometer.tracing.autoconfigure.MicrometerTracingAutoConfiguration"
        })
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean(ObservationRegistry.class)
@ConditionalOnEnabled("delay-queue")
@EnableConfigurationProperties(DelayQueueProperties.class)
public final class DelayQueueObservationAutoConfiguration {

    /** Before Micrometer's own handlers for senders and receivers, because the first one that fits is used. */
    private static final int BEFORE_MICROMETER = 500;

    /** The span includes what the application's own interceptors do. */
    private static final int OUTSIDE_OF_OTHER_INTERCEPTORS = Ordered.HIGHEST_PRECEDENCE + 100;

    DelayQueueObservationAutoConfiguration() {}

    @Bean
    @Order(OUTSIDE_OF_OTHER_INTERCEPTORS)
    @ConditionalOnMissingBean
    ObservedMessages delayQueueObservations(ObservationRegistry registry, DelayQueueProperties properties) {
        return new ObservedMessages(registry, properties.tracing());
    }

    /** Handlers that make spans of the observations. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({Tracer.class, Propagator.class})
    @ConditionalOnBean({Tracer.class, Propagator.class})
    static class TracingConfiguration {

        /** Setting of Spring Boot. */
        private static final String REMOTE_FIELDS = "management.tracing.baggage.remote-fields";

        @Bean
        @Order(BEFORE_MICROMETER)
        SendTracing delayQueueSendTracing(Tracer tracer, Propagator propagator) {
            return new SendTracing(tracer, propagator);
        }

        @Bean
        @Order(BEFORE_MICROMETER)
        LinkedTracing delayQueueLinkedTracing(Tracer tracer, Environment environment) {
            List<String> fields = Binder.get(environment)
                    .bind(REMOTE_FIELDS, Bindable.listOf(String.class))
                    .orElseGet(List::of);
            return new LinkedTracing(tracer, fields);
        }
    }
}
