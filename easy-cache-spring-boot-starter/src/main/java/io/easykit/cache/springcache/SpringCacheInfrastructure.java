package io.easykit.cache.springcache;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.cache.CacheManager;
import org.springframework.cache.config.CacheManagementConfigUtils;
import org.springframework.cache.interceptor.AbstractCacheResolver;
import org.springframework.cache.interceptor.CacheInterceptor;
import org.springframework.core.Ordered;

/** The beans of Spring's cache in an application. */
final class SpringCacheInfrastructure {

    private SpringCacheInfrastructure() {}

    /** Whether {@code @EnableCaching} has defined an interceptor. */
    static boolean isPresent(ConfigurableListableBeanFactory beans) {
        return !interceptors(beans).isEmpty();
    }

    static List<CacheInterceptor> interceptors(ConfigurableListableBeanFactory beans) {
        return List.copyOf(
                beans.getBeansOfType(CacheInterceptor.class, true, false).values());
    }

    static Set<String> managers(ConfigurableListableBeanFactory beans) {
        return new TreeSet<>(List.of(beans.getBeanNamesForType(CacheManager.class, true, false)));
    }

    /** Types of managers other than ours that a {@code CachingConfigurer} has set; they may be no beans. */
    static Set<String> configuredManagers(ConfigurableListableBeanFactory beans) {
        Set<String> others = new TreeSet<>();
        for (CacheInterceptor interceptor : interceptors(beans)) {
            if (interceptor.getCacheResolver() instanceof AbstractCacheResolver resolver
                    && !(resolver.getCacheManager() instanceof SpringCacheManager)) {
                others.add(resolver.getCacheManager().getClass().getName());
            }
        }
        return others;
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
