package io.easykit.cache.autoconfigure;

import io.easykit.boot.ConditionalOnEnabled;
import io.easykit.boot.LettuceHints;
import io.easykit.boot.SettingsReport;
import io.easykit.boot.StartReport;
import io.easykit.cache.CacheListener;
import io.easykit.cache.EasyCache;
import io.easykit.cache.LoadObserver;
import io.easykit.cache.RunningLoad;
import io.easykit.cache.Transactions;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.aop.CacheAdvisor;
import io.easykit.cache.aop.CachedMethodProcessor;
import io.easykit.cache.aop.CachedMethods;
import io.easykit.cache.aop.TransactionalMethods;
import io.easykit.cache.async.Futures;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.engine.EasyCacheEngine;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.springcache.SpringCacheMethods;
import io.easykit.cache.store.Outbox;
import io.easykit.cache.time.EngineTime;
import io.easykit.cache.transaction.ConnectionPools;
import io.easykit.cache.transaction.DeclaredTransactions;
import io.easykit.cache.transaction.LoadScopes;
import io.easykit.cache.transaction.MetadataPoolSizes;
import io.easykit.cache.transaction.OwnTransactions;
import io.easykit.cache.transaction.PoolSizes;
import io.easykit.cache.transaction.SpringTransactions;
import io.easykit.cache.transaction.TransactionListenerProcessor;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jdbc.metadata.CompositeDataSourcePoolMetadataProvider;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.thread.Threading;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.function.SingletonSupplier;

/**
 * Auto-configuration of easy-cache: an {@link EasyCache} on the application's Redis, and the advisors that apply it to
 * annotated methods.
 *
 * <p>Runs after the transaction auto-configuration: the update advisor has the precedence of the transaction advisor,
 * and follows it because it is registered later.
 */
@AutoConfiguration(
        after = DataRedisAutoConfiguration.class,
        afterName = "org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration")
@ConditionalOnEnabled("easy-cache")
@EnableConfigurationProperties(EasyCacheProperties.class)
@Import({StartReport.class, EasyCacheAutoConfiguration.AutoProxyRegistrar.class})
@ImportRuntimeHints({EasyCacheHints.class, LettuceHints.class})
public final class EasyCacheAutoConfiguration {

    EasyCacheAutoConfiguration() {}

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static SettingsReport easyCacheSettingsReport() {
        return new SettingsReport("easy-cache");
    }

    @Bean
    @ConditionalOnMissingBean
    ValueCodec easyCacheValueCodec() {
        return new JacksonValueCodec();
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static EasyCacheStartCheck easyCacheStartCheck(
            Environment environment,
            ObjectProvider<CachedMethodProcessor> processor,
            ObjectProvider<SpringCacheMethods> springs) {
        return new EasyCacheStartCheck(environment, processor::getObject, springs);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static CachedMethods easyCacheMethods(
            Environment environment,
            ConfigurableListableBeanFactory beans,
            ObjectProvider<EasyCacheProperties> properties) {
        EasyCacheProperties settings = properties.getObject();
        return EasyCacheStartCheck.methods(environment, beans, settings, settings.table());
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static CachedMethodProcessor easyCacheMethodProcessor(
            ObjectProvider<CachedMethods> methods, ObjectProvider<EasyCache> cache) {
        return new CachedMethodProcessor(methods::getObject, cache::getObject);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static CacheAdvisor easyCacheReadAdvisor(
            ObjectProvider<CachedMethods> methods, ObjectProvider<EasyCache> cache, ObjectProvider<Futures> futures) {
        return CacheAdvisor.forReads(once(methods), once(cache), once(futures));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static CacheAdvisor easyCacheUpdateAdvisor(
            ObjectProvider<CachedMethods> methods,
            ObjectProvider<EasyCache> cache,
            ObjectProvider<TransactionalMethods> transactional) {
        return CacheAdvisor.forUpdates(
                once(methods),
                once(cache),
                SingletonSupplier.of(() -> transactional.getIfAvailable(() -> TransactionalMethods.NONE)));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static CacheAdvisor easyCacheOuterUpdateAdvisor(
            ObjectProvider<CachedMethods> methods,
            ObjectProvider<EasyCache> cache,
            ObjectProvider<TransactionalMethods> transactional,
            ObjectProvider<Futures> futures) {
        return CacheAdvisor.forOuterUpdates(
                once(methods),
                once(cache),
                SingletonSupplier.of(() -> transactional.getIfAvailable(() -> TransactionalMethods.NONE)),
                once(futures));
    }

    @Bean
    BackgroundExecutor easyCacheCalls(Environment environment, ObjectProvider<TaskDecorator> decorators) {
        return BackgroundExecutor.unlimited(
                "easy-cache-call-",
                Threading.VIRTUAL.isActive(environment),
                ContextPropagation.with(decorators.orderedStream()));
    }

    @Bean
    CallSteps easyCacheSteps(Environment environment, ObjectProvider<TaskDecorator> decorators) {
        return new CallSteps(
                "easy-cache-call-",
                Threading.VIRTUAL.isActive(environment),
                ContextPropagation.with(decorators.orderedStream()),
                BackgroundExecutor.CALL_GRACE);
    }

    @Bean
    Futures easyCacheFutures(BackgroundExecutor easyCacheCalls, CallSteps easyCacheSteps) {
        return new Futures(easyCacheCalls::execute, easyCacheSteps::open);
    }

    /** Advisors are created before ordinary beans, so they must not request them during creation. */
    private static <T> Supplier<T> once(ObjectProvider<T> provider) {
        return SingletonSupplier.of(provider::getObject);
    }

    /** The cache and the beans used only by it. All are skipped if the application defines an {@link EasyCache}. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingBean(EasyCache.class)
    static class CacheConfiguration {

        @Bean(destroyMethod = "stop")
        EasyCacheEngine easyCache(
                EntryStores stores,
                BackgroundExecutor easyCacheBackground,
                Futures easyCacheFutures,
                ValueCodec codec,
                EasyCacheProperties properties,
                AvailabilityEvents easyCacheEvents,
                ObjectProvider<Transactions> transactions,
                ObjectProvider<Outbox> outbox,
                ObjectProvider<CacheListener> listeners,
                ObjectProvider<LoadObserver> loadObserver,
                ObjectProvider<EngineTime> time,
                ObjectProvider<EasyCacheCustomizer> customizers) {
            LongSupplier nanoTime = time.getIfAvailable(() -> EngineTime.SYSTEM)::nanoTime;
            EasyCacheEngine.Builder builder = EasyCacheEngine.builder(codec)
                    .circuitBreaker(properties.circuitBreaker().options())
                    .degraded(properties.degradedOptions())
                    .transactions(transactions.getIfAvailable(() -> Transactions.NONE))
                    .background(easyCacheBackground::execute)
                    .async(easyCacheFutures);
            EasyCacheProperties.Local local = properties.local();
            if (local.maximumSize() > 0) {
                builder.localLevels(() -> new CaffeineLocalLevel(local.maximumSize(), nanoTime));
            }
            long near = properties.near().maximumSize();
            if (near > 0) {
                builder.nearLevels(() -> CaffeineLocalLevel.near(near, nanoTime));
            }
            stores.byClusterId().forEach(builder::store);
            outbox.ifAvailable(builder::outbox);
            loadObserver.ifAvailable(builder::loadObserver);
            builder.listener(easyCacheEvents.listener());
            listeners.orderedStream().forEach(builder::listener);
            customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
            // Set last: a customizer that installs real threads would leave a test unable to move the clock.
            time.ifAvailable(builder::time);
            return builder.build();
        }

        @Bean
        AvailabilityEvents easyCacheEvents(ApplicationEventPublisher publisher) {
            return new AvailabilityEvents(publisher);
        }

        @Bean
        EasyCacheLifecycle easyCacheLifecycle(
                ObjectProvider<EasyCacheEngine> cache,
                ObjectProvider<RedisEntryStores> stores,
                EasyCacheProperties properties) {
            Map<String, RedisConnections> required = new LinkedHashMap<>();
            if (properties.requireRedisAtStart()) {
                stores.ifAvailable(redis -> required.putAll(redis.connections()));
            }
            return new EasyCacheLifecycle(cache.getIfAvailable(), required);
        }

        @Configuration(proxyBeanMethods = false)
        @ConditionalOnMissingBean(EntryStores.class)
        static class RedisConfiguration {

            @Bean
            RedisConnections easyCacheConnections(
                    RedisConnectionFactory redisConnectionFactory, EasyCacheProperties properties) {
                return new RedisConnections(
                        redisConnectionFactory,
                        properties.keyPrefix(),
                        properties.commandTimeout(),
                        properties.near().hints());
            }

            @Bean
            NamedClusters easyCacheClusters(EasyCacheProperties properties, ObjectProvider<SslBundles> sslBundles) {
                return new NamedClusters(properties, sslBundles.getIfAvailable());
            }

            @Bean
            RedisEntryStores easyCacheStores(RedisConnections easyCacheConnections, NamedClusters easyCacheClusters) {
                return new RedisEntryStores(easyCacheConnections, easyCacheClusters);
            }
        }

        /**
         * Makes tasks on Spring Boot's executors part of the load that submits them. A fallback: any other decorator is
         * preferred for injection.
         */
        @Bean
        @Fallback
        TaskDecorator easyCacheRunningLoadDecorator() {
            return RunningLoad::carry;
        }

        @Bean
        BackgroundExecutor easyCacheBackground(Environment environment, ObjectProvider<TaskDecorator> decorators) {
            return new BackgroundExecutor(
                    Threading.VIRTUAL.isActive(environment), ContextPropagation.with(decorators.orderedStream()));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(TransactionSynchronizationManager.class)
    static class TransactionConfiguration {

        @Bean
        @ConditionalOnMissingBean(Transactions.class)
        SpringTransactions easyCacheTransactions(
                EasyCacheProperties properties,
                ObjectProvider<PoolSizes> sizes,
                ObjectProvider<PlatformTransactionManager> managers) {
            EasyCacheProperties.Transactions settings = properties.transactions();
            PoolSizes known = key -> {
                PoolSizes available = sizes.getIfAvailable();
                return available == null ? null : available.of(key);
            };
            return new SpringTransactions(
                    new LoadScopes(new ConnectionPools(known, settings.extraConnections()), settings.readOnlyLoads()),
                    new OwnTransactions(() -> OwnTransactions.choose(managers)));
        }

        @Bean
        TransactionalMethods easyCacheTransactionalMethods(ObjectProvider<TransactionAttributeSource> sources) {
            return new DeclaredTransactions(
                    SingletonSupplier.of(() -> sources.orderedStream().toList()));
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static TransactionListenerProcessor easyCacheTransactionListenerProcessor(
                ObjectProvider<SpringTransactions> transactions) {
            return new TransactionListenerProcessor(transactions::getIfAvailable);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DataSourcePoolMetadataProvider.class)
    static class PoolConfiguration {

        @Bean
        PoolSizes easyCachePoolSizes(ObjectProvider<DataSourcePoolMetadataProvider> providers) {
            return new MetadataPoolSizes(new CompositeDataSourcePoolMetadataProvider(
                    providers.orderedStream().toList()));
        }
    }

    /** Ensures that there is an auto-proxy creator. An existing one is not changed. */
    static final class AutoProxyRegistrar implements ImportBeanDefinitionRegistrar {

        @Override
        public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
        }
    }
}
