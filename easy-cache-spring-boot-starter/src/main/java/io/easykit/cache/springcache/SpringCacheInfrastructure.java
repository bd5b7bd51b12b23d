package io.easykit.cache.springcache;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.Advisor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.cache.CacheManager;
import org.springframework.cache.config.CacheManagementConfigUtils;
import org.springframework.cache.interceptor.AbstractCacheResolver;
import org.springframework.cache.interceptor.CacheInterceptor;
import org.springframework.cache.support.CompositeCacheManager;
import org.springframework.core.Ordered;

/** The beans of Spring's cache in an application. */
final class SpringCacheInfrastructure {

    private static final Logger log = LoggerFactory.getLogger(SpringCacheInfrastructure.class);

    private SpringCacheInfrastructure() {}

    /**
     * The interceptor of {@code @EnableCaching}, or null if there is none. Others come from {@code <cache:advice>}, and are left
     * alone.
     */
    static @Nullable CacheInterceptor interceptor(ConfigurableListableBeanFactory beans) {
        String advisor = CacheManagementConfigUtils.CACHE_ADVISOR_BEAN_NAME;
        if (beans.containsLocalBean(advisor)
                && beans.getBean(advisor) instanceof Advisor bean
                && bean.getAdvice() instanceof CacheInterceptor interceptor) {
            return interceptor;
        }
        Collection<CacheInterceptor> all =
                beans.getBeansOfType(CacheInterceptor.class, true, false).values();
        return all.size() == 1 ? all.iterator().next() : null;
    }

    /** Whether Spring's AspectJ aspect runs the annotated methods, as with {@code mode = ASPECTJ}. */
    static boolean hasAspect(ConfigurableListableBeanFactory beans) {
        return beans.containsBean(CacheManagementConfigUtils.CACHE_ASPECT_BEAN_NAME);
    }

    static Set<String> managers(ConfigurableListableBeanFactory beans) {
        return new TreeSet<>(List.of(beans.getBeanNamesForType(CacheManager.class, true, false)));
    }

    /**
     * Type of a manager other than ours that a {@code CachingConfigurer} has set; it may be no bean. Null if there is none.
     *
     * @param names of caches in annotations
     */
    static @Nullable String configuredManager(CacheInterceptor interceptor, Set<String> names) {
        if (!(interceptor.getCacheResolver() instanceof AbstractCacheResolver resolver)) {
            return null;
        }
        CacheManager manager;
        try {
            manager = resolver.getCacheManager();
        } catch (IllegalStateException none) {
            log.debug("The cache resolver {} has no cache manager", resolver, none);
            return null;
        }
        return manager instanceof SpringCacheManager || contains(manager, names)
                ? null
                : manager.getClass().getName();
    }

    /** Whether a composite manager contains a cache of ours. */
    private static boolean contains(CacheManager manager, Set<String> names) {
        return manager instanceof CompositeCacheManager
                && names.stream().anyMatch(name -> manager.getCache(name) instanceof SpringCache);
    }

    /** Whether a name in an annotation is that of our manager. */
    static boolean isOwn(ConfigurableListableBeanFactory beans, String manager) {
        return beans.containsBean(manager) && beans.isTypeMatch(manager, SpringCacheManager.class);
    }

    /** An order outside Spring's interceptor, so that calls can pass it. */
    static int orderOutside(ConfigurableListableBeanFactory beans, int usual) {
        Object advisor = beans.getSingleton(CacheManagementConfigUtils.CACHE_ADVISOR_BEAN_NAME);
        if (!(advisor instanceof Ordered ordered) || ordered.getOrder() > usual) {
            return usual;
        }
        return Math.max(ordered.getOrder(), Ordered.HIGHEST_PRECEDENCE + 1) - 1;
    }
}
