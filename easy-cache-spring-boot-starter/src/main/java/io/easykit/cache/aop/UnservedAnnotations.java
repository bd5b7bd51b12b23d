package io.easykit.cache.aop;

import io.easykit.boot.AnnotatedTypes;
import io.easykit.boot.MethodScan;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.Caching;
import org.springframework.cache.config.CacheManagementConfigUtils;
import org.springframework.cache.interceptor.CacheOperationSource;
import org.springframework.util.ClassUtils;

/**
 * Finds methods with Spring's cache annotations in an application that enables neither Spring's caching nor ours for them. Most
 * often the wrong {@code @Cacheable} was imported.
 */
final class UnservedAnnotations {

    private static final Logger log = LoggerFactory.getLogger(CachedMethods.class);

    private static final List<Class<? extends Annotation>> SPRINGS =
            List.of(Cacheable.class, CachePut.class, CacheEvict.class, Caching.class);

    private UnservedAnnotations() {}

    /**
     * Logs a line if there are such methods.
     *
     * @param types classes of beans
     */
    static void warn(ConfigurableListableBeanFactory beans, Collection<Class<?>> types) {
        if (beans.getBeanNamesForType(CacheOperationSource.class, true, false).length > 0
                || beans.containsBean(CacheManagementConfigUtils.CACHE_ASPECT_BEAN_NAME)) {
            return;
        }
        AnnotatedTypes annotated = new AnnotatedTypes(SPRINGS);
        Set<String> methods = new TreeSet<>();
        types.stream().filter(annotated::contains).forEach(type -> methods.addAll(methodsOf(beans, type)));
        if (!methods.isEmpty()) {
            log.warn(
                    "easy-cache: methods with Spring's cache annotations neither cache nor invalidate, because nothing"
                            + " serves these annotations: {}. Import Cacheable or UpdateCache of io.easykit.cache.annotation"
                            + " instead. To keep Spring's, put @EnableCaching on a @Configuration class, and set"
                            + " easy-cache.spring-cache.enabled to true if easy-cache shall serve them.",
                    String.join(", ", methods));
        }
    }

    private static List<String> methodsOf(ConfigurableListableBeanFactory beans, Class<?> type) {
        String[] names = beans.getBeanNamesForType(type, true, false);
        String bean = names.length == 0 ? "" : " of bean '" + names[0] + "'";
        return MethodScan.filter(type, UnservedAnnotations::isAnnotated).stream()
                .map(method -> describe(type, method) + bean)
                .toList();
    }

    private static boolean isAnnotated(Method method) {
        return SPRINGS.stream().anyMatch(CacheAnnotations.on(method)::isPresent);
    }

    private static String describe(Class<?> type, Method method) {
        return ClassUtils.getShortName(type) + "." + method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }
}
