package io.easykit.cache.autoconfigure;

import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.aop.CachedMethods;
import io.easykit.cache.engine.EasyCacheEngine;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration of the {@link EasyCacheAdmin} for operators, also of a cache that is switched off. An application that
 * replaces the {@code EasyCache} by another type than {@link EasyCacheEngine} has none.
 */
@AutoConfiguration(after = {EasyCacheAutoConfiguration.class, DisabledEasyCacheAutoConfiguration.class})
@ConditionalOnSingleCandidate(EasyCacheEngine.class)
public final class EasyCacheAdminAutoConfiguration {

    EasyCacheAdminAutoConfiguration() {}

    /** Null if a test has replaced the cache, for example by a mock. */
    @Bean
    @ConditionalOnMissingBean
    @Nullable EasyCacheAdmin easyCacheAdmin(
            ObjectProvider<EasyCacheEngine> cache,
            ObjectProvider<CachedMethods> methods,
            ObjectProvider<EasyCacheProperties> settings,
            Environment environment) {
        EasyCacheEngine engine = cache.getIfAvailable();
        return engine == null ? null : engine.admin(new DeclaredCaches(methods, settings, environment));
    }
}
