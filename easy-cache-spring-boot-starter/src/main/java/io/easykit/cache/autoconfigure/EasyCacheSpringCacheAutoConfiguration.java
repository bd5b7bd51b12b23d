package io.easykit.cache.autoconfigure;

import io.easykit.boot.ConditionalOnEnabled;
import io.easykit.boot.ConditionalOnSwitch;
import io.easykit.cache.EasyCache;
import io.easykit.cache.Transactions;
import io.easykit.cache.aop.CachedMethods;
import io.easykit.cache.aop.SpringDeclarations;
import io.easykit.cache.aop.TransactionalMethods;
import io.easykit.cache.async.Futures;
import io.easykit.cache.springcache.SpringCacheAdvisor;
import io.easykit.cache.springcache.SpringCacheManager;
import io.easykit.cache.springcache.SpringCacheMethods;
import java.util.function.Supplier;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.cache.CacheManager;
import org.springframework.cache.support.NoOpCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Role;
import org.springframework.util.function.SingletonSupplier;

/**
 * Auto-configuration of Spring's cache annotations over easy-cache, if enabled in the settings. A cache manager of the application
 * stays in use, unless ours is made the primary one.
 */
@AutoConfiguration(
        after = EasyCacheAutoConfiguration.class,
        beforeName = "org.springframework.boot.cache.autoconfigure.CacheAutoConfiguration")
@ConditionalOnSwitch("easy-cache.spring-cache.enabled")
public final class EasyCacheSpringCacheAutoConfiguration {

    EasyCacheSpringCacheAutoConfiguration() {}

    /** A switched off cache caches nothing for Spring's annotations either. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnEnabled(value = "easy-cache", enabled = false)
    static class DisabledConfiguration {

        @Bean
        @ConditionalOnMissingBean(value = CacheManager.class, name = "cacheResolver")
        CacheManager easyCacheManager() {
            return new NoOpCacheManager();
        }
    }

    /** The only cache manager of the application. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnEnabled("easy-cache")
    @ConditionalOnSwitch(value = "easy-cache.spring-cache.primary", on = false)
    @ConditionalOnMissingBean(value = CacheManager.class, name = "cacheResolver")
    static class ManagerConfiguration {

        @Bean
        SpringCacheManager easyCacheManager(ManagerFactory easyCacheManagerFactory) {
            return easyCacheManagerFactory.get();
        }
    }

    /** Preferred to the cache managers of the application. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnEnabled("easy-cache")
    @ConditionalOnSwitch("easy-cache.spring-cache.primary")
    static class PrimaryManagerConfiguration {

        @Bean
        @Primary
        SpringCacheManager easyCacheManager(ManagerFactory easyCacheManagerFactory) {
            return easyCacheManagerFactory.get();
        }
    }

    /** Creates the cache manager, whose bean is either the only one or the primary one. */
    @FunctionalInterface
    interface ManagerFactory extends Supplier<SpringCacheManager> {}

    /** Beans that run the annotated methods. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnEnabled("easy-cache")
    static class MethodConfiguration {

        @Bean
        ManagerFactory easyCacheManagerFactory(
                ObjectProvider<EasyCache> cache,
                SpringDeclarations easyCacheSpringDeclarations,
                ObjectProvider<Transactions> transactions,
                Futures easyCacheFutures,
                EasyCacheProperties properties) {
            return () -> new SpringCacheManager(
                    SingletonSupplier.of(cache::getObject),
                    easyCacheSpringDeclarations,
                    SingletonSupplier.of(() -> transactions.getIfAvailable(() -> Transactions.NONE)),
                    easyCacheFutures,
                    properties.springCache().allowNullValues());
        }

        @Bean
        SpringDeclarations easyCacheSpringDeclarations(
                ObjectProvider<CachedMethods> methods,
                EasyCacheProperties properties,
                ObjectProvider<EasyCache> cache) {
            return new SpringDeclarations(methods::getObject, properties.table(), type -> cache.getObject()
                    .problemWith(type));
        }

        @Bean
        SpringCacheMethods easyCacheSpringMethods(
                ConfigurableListableBeanFactory beans,
                SpringDeclarations easyCacheSpringDeclarations,
                ObjectProvider<SpringCacheManager> manager) {
            return new SpringCacheMethods(beans, easyCacheSpringDeclarations, manager::getIfAvailable);
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static SpringCacheAdvisor easyCacheSpringAdvisor(
                ConfigurableListableBeanFactory beans,
                ObjectProvider<SpringCacheMethods> methods,
                ObjectProvider<SpringCacheManager> manager,
                ObjectProvider<TransactionalMethods> transactional) {
            return new SpringCacheAdvisor(
                    beans,
                    SingletonSupplier.of(methods::getObject),
                    SingletonSupplier.of(manager::getObject),
                    SingletonSupplier.of(() -> transactional.getIfAvailable(() -> TransactionalMethods.NONE)));
        }
    }
}
