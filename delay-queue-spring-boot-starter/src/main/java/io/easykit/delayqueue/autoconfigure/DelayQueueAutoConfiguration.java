package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.AuditKeeper;
import io.easykit.boot.ConditionalOnEnabled;
import io.easykit.boot.StartReport;
import io.easykit.delayqueue.DelayListenerInterceptor;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.DelayTopic;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.SendInterceptor;
import io.easykit.delayqueue.admin.ActionLog;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.listener.DelayListenerBeanPostProcessor;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.delayqueue.listener.TopicSettingsTable;
import io.easykit.delayqueue.metrics.TopicSnapshots;
import io.easykit.delayqueue.propagation.MdcPropagation;
import io.easykit.delayqueue.redis.RedisQueueStore;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.delayqueue.support.Transactions;
import io.easykit.delayqueue.time.VirtualTime;
import io.easykit.delayqueue.transaction.SpringTransactions;
import io.easykit.delayqueue.transaction.TransactionListenerProcessor;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.thread.Threading;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.context.support.DefaultLifecycleProcessor;
import org.springframework.core.Ordered;
import org.springframework.core.SpringProperties;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.function.SingletonSupplier;

/**
 * Auto-configuration of delay-queue: a {@link DelayQueueEngine} on the application's Redis, a
 * {@link DelayQueueTemplate} for sending, and listeners for annotated methods.
 */
@AutoConfiguration(after = DataRedisAutoConfiguration.class)
@ConditionalOnEnabled("delay-queue")
@EnableConfigurationProperties(DelayQueueProperties.class)
@Import({StartReport.class, EngineBeans.class})
public final class DelayQueueAutoConfiguration {

    private static final Duration SNAPSHOT_AGE = Duration.ofSeconds(5);

    DelayQueueAutoConfiguration() {}

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static DelayQueueStartCheck delayQueueStartCheck(
            Environment environment,
            ObjectProvider<DelayListenerBeanPostProcessor> processor,
            ObjectProvider<PayloadCodec> codec,
            ObjectProvider<DelayTopic> topics,
            ObjectProvider<DelayQueueCustomizer> customizers) {
        // A customizer may replace the codec of the engine, so its payload types are not checked.
        return new DelayQueueStartCheck(
                environment,
                processor::getObject,
                () -> topics.stream().toList(),
                () -> customizers.stream().findAny().isPresent() ? type -> null : codec.getObject()::problemWith);
    }

    @Bean
    @ConditionalOnMissingBean
    PayloadCodec delayQueuePayloadCodec(DelayQueueProperties properties) {
        return properties.json().codec();
    }

    @Bean
    TopicSettingsTable delayQueueTopicSettings(DelayQueueProperties properties, ObjectProvider<DelayTopic> topics) {
        return properties.table().declaredBy(topics.stream().toList());
    }

    @Bean
    @ConditionalOnMissingBean
    DelayQueueEngine delayQueueEngine(
            QueueBackend store,
            PayloadCodec codec,
            DelayQueueProperties properties,
            TopicSettingsTable topics,
            Environment environment,
            ObjectProvider<Transactions> transactions,
            ObjectProvider<SendOutbox> outbox,
            ObjectProvider<SendInterceptor> sendInterceptors,
            ObjectProvider<DelayListenerInterceptor> listenerInterceptors,
            ObjectProvider<DelayQueueListener> listeners,
            ObjectProvider<VirtualTime> virtualTime,
            ObjectProvider<DelayQueueCustomizer> customizers) {
        DelayQueueEngine.Builder builder = DelayQueueEngine.builder(store)
                .codec(codec)
                .shards(topics::shards)
                .topicLimits(topics::limits)
                .transactions(transactions.getIfAvailable(() -> Transactions.NONE))
                .sendInterceptors(() -> sendInterceptors.orderedStream().toList())
                .listenerInterceptors(() -> listenerInterceptors.orderedStream().toList())
                .sendPhase(properties.sendPhase())
                .sendTimeout(properties.sendTimeout())
                .commandTimeout(properties.commandTimeout())
                .replicaWaits(topics::replicaWait)
                .noConsumerLimits(topics::noConsumer)
                .maxMessageBytes((int) properties.maxMessageSize().toBytes())
                .heartbeatInterval(properties.heartbeatInterval())
                .application(environment.getProperty("spring.application.name", ""))
                .version("spring-boot", SpringBootVersion.getVersion());
        if (properties.hasOutbox()) {
            builder.outbox(outbox.getObject(), properties.outbox().lease());
        }
        String version = DelayQueueEngine.class.getPackage().getImplementationVersion();
        if (version != null) {
            builder.version("easykit", version);
        }
        if (Threading.VIRTUAL.isActive(environment)) {
            SimpleAsyncTaskExecutor workers = new SimpleAsyncTaskExecutor("delay-queue-");
            workers.setVirtualThreads(true);
            builder.workers(workers);
        }
        builder.listeners(() -> listeners.orderedStream().toList());
        customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
        // Set last: a customizer that installs real threads would leave a test unable to move the clock.
        virtualTime.ifAvailable(time -> builder.loops(time.loops()).workers(time.workers()));
        return builder.build();
    }

    @Bean
    @ConditionalOnMissingBean(name = "delayQueueApplicationEvents")
    ApplicationEvents delayQueueApplicationEvents(ApplicationEventPublisher publisher) {
        return new ApplicationEvents(publisher);
    }

    /** Outside of the observation, so that the tracer decides about entries that it sets itself. */
    @Bean
    @Order(Ordered.HIGHEST_PRECEDENCE)
    @ConditionalOnMissingBean
    MdcPropagation delayQueueMdcPropagation(DelayQueueProperties properties) {
        return new MdcPropagation(properties.propagation().mdc());
    }

    /** One in each context of a hierarchy: listeners stop with the beans of their own context. */
    @Bean
    @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
    DelayListenerRegistry delayListenerRegistry(DelayQueueProperties properties, ApplicationContext context) {
        ApplicationContext parent = context.getParent();
        return new DelayListenerRegistry(
                properties.autoStartup(),
                parent == null
                        ? null
                        : parent.getBeanProvider(DelayListenerRegistry.class).getIfUnique());
    }

    /** One in each context of a hierarchy, as the registry. */
    @Bean
    ListenersStopFirst delayListenersStopFirst(
            ApplicationContext context, ObjectProvider<DelayListenerRegistry> registry) {
        return new ListenersStopFirst(context, registry::getObject);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static DelayListenerBeanPostProcessor delayListenerBeanPostProcessor(
            Environment environment,
            ObjectProvider<TopicSettingsTable> settings,
            ObjectProvider<DelayQueueEngine> engine,
            ObjectProvider<DelayListenerRegistry> registry) {
        return new DelayListenerBeanPostProcessor(
                environment, settings::getObject, engine::getObject, registry::getObject);
    }

    /** No other bean requests a lazy bean that only listens, so it would never be created. */
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LazyInitializationExcludeFilter delayListenerLazyInitializationExcludeFilter() {
        return (beanName, definition, type) -> DelayListenerBeanPostProcessor.hasListeners(type);
    }

    /** Null without an address, which is read at the start, also if the application was processed ahead of time. */
    @Bean(destroyMethod = "close")
    @Nullable AlertWebhook delayQueueAlertWebhook(DelayQueueProperties properties, Environment environment) {
        WebhookSettings webhook = properties.webhook();
        String url = webhook.url();
        return url == null
                ? null
                : new AlertWebhook(
                        url,
                        webhook.template(),
                        webhook.timeout(),
                        environment.getProperty("spring.application.name", ""),
                        AlertWebhook.thread());
    }

    /** Only endpoints use it. */
    @Bean
    @Lazy
    AuditKeeper delayQueueAuditKeeper(ActionLog actions, Environment environment) {
        return new ActionLogKeeper(actions, environment);
    }

    /** A child context uses that of its parent: at its own end it would remove the node from the fleet. */
    @Bean
    @ConditionalOnMissingBean
    FleetMembership delayQueueFleetMembership(DelayQueueEngine engine) {
        return new FleetMembership(() -> engine);
    }

    @Bean
    TopicSnapshots delayQueueSnapshots(
            ObjectProvider<DelayQueueEngine> engine, ObjectProvider<VirtualTime> virtualTime) {
        Supplier<DelayQueueEngine> once = SingletonSupplier.of(engine::getObject);
        VirtualTime time = virtualTime.getIfAvailable();
        return new TopicSnapshots(
                topic -> once.get().stats(topic), SNAPSHOT_AGE, time == null ? System::nanoTime : time::nanos);
    }

    /** The store in Redis and the beans used only by it. All are skipped if the application defines a store. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(QueueBackend.class)
    static class RedisConfiguration {

        @Bean
        RedisConnections delayQueueConnections(
                RedisConnectionFactory redisConnectionFactory,
                DelayQueueProperties properties,
                ApplicationContext context) {
            return new RedisConnections(redisConnectionFactory, properties.commandTimeout(), context);
        }

        @Bean
        QueueBackend delayQueueStore(RedisConnections connections, DelayQueueProperties properties) {
            RedisQueueStore store = new RedisQueueStore(connections.factory(), properties.keyPrefix());
            if (!isImageTaken()) {
                // Listeners wait for the first reply when they start. Other beans are created meanwhile.
                store.startConnecting();
            }
            return store;
        }

        /** Between the creation of beans and their start, when no connection may be open (CRaC). */
        private static boolean isImageTaken() {
            return DefaultLifecycleProcessor.ON_REFRESH_VALUE.equalsIgnoreCase(
                    SpringProperties.getProperty(DefaultLifecycleProcessor.CHECKPOINT_PROPERTY_NAME));
        }

        /** Does not depend on the listeners: dependencies start first, whatever their phase. */
        @Bean
        RedisStartupCheck delayQueueStartupCheck(
                RedisConnections connections,
                QueueBackend delayQueueStore,
                DelayQueueProperties properties,
                ObjectProvider<DelayListenerRegistry> registry) {
            return new RedisStartupCheck(connections, delayQueueStore, properties, registry::getObject);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(TransactionSynchronizationManager.class)
    static class TransactionConfiguration {

        @Bean
        @ConditionalOnMissingBean(Transactions.class)
        SpringTransactions delayQueueTransactions() {
            return new SpringTransactions();
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static TransactionListenerProcessor delayQueueTransactionListenerProcessor(
                ObjectProvider<SpringTransactions> transactions) {
            return new TransactionListenerProcessor(transactions::getIfAvailable);
        }
    }
}
