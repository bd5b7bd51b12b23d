package io.easykit.cache.aop;

import io.easykit.boot.AnnotatedTypes;
import io.easykit.boot.MethodScan;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import io.easykit.cache.annotation.UpdateCaches;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotationPredicates;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;

/**
 * Finds the annotations on the method that runs, or else on the nearest method that it overrides or implements.
 * Supports composed annotations.
 */
final class CacheAnnotations {

    private static final AnnotatedTypes TYPES =
            new AnnotatedTypes(List.of(Cacheable.class, UpdateCache.class, UpdateCaches.class));

    private CacheAnnotations() {}

    /** Whether a class has annotated methods. Costs little for one that has none. */
    static boolean areIn(Class<?> type) {
        return TYPES.contains(type);
    }

    static List<MergedAnnotation<Cacheable>> cacheable(Method method, Class<?> targetClass) {
        return find(Cacheable.class, method, targetClass);
    }

    static List<MergedAnnotation<UpdateCache>> updateCache(Method method, Class<?> targetClass) {
        return find(UpdateCache.class, method, targetClass);
    }

    /** Whether it is a cached read or an update. */
    static boolean isAnnotated(Method method, Class<?> targetClass) {
        return !cacheable(method, targetClass).isEmpty()
                || !updateCache(method, targetClass).isEmpty();
    }

    private static <A extends Annotation> List<MergedAnnotation<A>> find(
            Class<A> type, Method method, Class<?> targetClass) {
        Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
        List<MergedAnnotation<A>> found = nearest(type, specific);
        // The base class of a repository implements methods that the repository interface declares again.
        return found.isEmpty() && !specific.equals(method) ? nearest(type, method) : found;
    }

    private static <A extends Annotation> List<MergedAnnotation<A>> nearest(Class<A> type, Method method) {
        return on(method).stream(type)
                .filter(MergedAnnotationPredicates.firstRunOf(MergedAnnotation::getAggregateIndex))
                .toList();
    }

    /** Returns the annotated methods of superclasses and interfaces of a class, each with the method that runs instead. */
    static Map<Method, Method> overridden(Class<?> type) {
        return areIn(type) ? MethodScan.overridden(type, CacheAnnotations::isAnnotatedItself) : Map.of();
    }

    private static boolean isAnnotatedItself(Method method) {
        MergedAnnotations itself = itself(method);
        return itself.isPresent(Cacheable.class) || itself.isPresent(UpdateCache.class);
    }

    /** Returns those of a method alone. */
    static MergedAnnotations itself(Method method) {
        return MergedAnnotations.from(method, SearchStrategy.DIRECT, RepeatableContainers.standardRepeatables());
    }

    /** Returns those of a method or a class, and of what it overrides, extends or implements. */
    static MergedAnnotations on(AnnotatedElement element) {
        return MergedAnnotations.from(
                element, SearchStrategy.TYPE_HIERARCHY, RepeatableContainers.standardRepeatables());
    }
}
