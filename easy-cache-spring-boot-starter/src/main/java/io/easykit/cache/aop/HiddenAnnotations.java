package io.easykit.cache.aop;

import io.easykit.cache.Consistency;
import io.easykit.cache.annotation.Cacheable;
import io.easykit.cache.annotation.UpdateCache;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.springframework.core.annotation.MergedAnnotation;

/** Refuses annotations on overridden and implemented methods that would have no effect. */
final class HiddenAnnotations {

    private final OperationFactory factory;

    HiddenAnnotations(OperationFactory factory) {
        this.factory = factory;
    }

    /** Returns the problems of a bean's class. */
    List<InvalidCacheDeclarationException> problems(Class<?> beanClass) {
        List<InvalidCacheDeclarationException> problems = new ArrayList<>();
        CacheAnnotations.overridden(beanClass).forEach((overridden, running) -> {
            try {
                requireEffect(beanClass, overridden, running);
            } catch (InvalidCacheDeclarationException problem) {
                problems.add(problem);
            }
        });
        return problems;
    }

    private void requireEffect(Class<?> beanClass, Method overridden, Method running) {
        boolean reads = CacheAnnotations.itself(overridden).isPresent(Cacheable.class);
        if (reads && CacheAnnotations.cacheable(running, beanClass).isEmpty()) {
            throw notFound(new CachedMethod(beanClass, overridden, overridden, Cacheable.class), running);
        }
        if (reads) {
            requireSame(beanClass, overridden, running);
        }
        List<MergedAnnotation<UpdateCache>> hidden =
                CacheAnnotations.itself(overridden).stream(UpdateCache.class).toList();
        List<MergedAnnotation<UpdateCache>> updates = CacheAnnotations.updateCache(running, beanClass);
        if (!hidden.isEmpty() && updates.isEmpty()) {
            throw notFound(new CachedMethod(beanClass, overridden, overridden, UpdateCache.class), running);
        }
        hidden.forEach(one -> requireRepeated(beanClass, one, overridden, updates, running));
    }

    /** An annotation on the method itself, or on one that overrides the other, is meant to replace it. */
    private void requireSame(Class<?> beanClass, Method overridden, Method running) {
        MergedAnnotation<Cacheable> used =
                CacheAnnotations.cacheable(running, beanClass).get(0);
        if (!(used.getSource() instanceof Method source)
                || overridden.getDeclaringClass().isAssignableFrom(source.getDeclaringClass())
                || source.equals(running)) {
            return;
        }
        MergedAnnotation<Cacheable> hidden = CacheAnnotations.itself(overridden).get(Cacheable.class);
        CachedMethod where = factory.site(used, running, beanClass);
        if (!factory.name(where, used).equals(factory.name(where, hidden))
                || used.getEnum("consistency", Consistency.class) != hidden.getEnum("consistency", Consistency.class)
                || !Arrays.equals(used.getStringArray("keys"), hidden.getStringArray("keys"))) {
            throw where.problem(
                    "it differs from the @Cacheable on the method of "
                            + overridden.getDeclaringClass().getName()
                            + ", and only one of them could take effect",
                    "Put one @Cacheable on the method of " + beanClass.getName() + ".");
        }
    }

    /** The hierarchy of the method that runs does not contain the annotated one. */
    private static InvalidCacheDeclarationException notFound(CachedMethod where, Method running) {
        return where.problem(
                "the method is that of " + running.getDeclaringClass().getName() + ", which is not a "
                        + where.declaring().getDeclaringClass().getName() + ", so the annotation would have no effect",
                "Override the method in " + where.targetClass().getName() + ", or put the annotation on the method of "
                        + running.getDeclaringClass().getName() + ".");
    }

    private void requireRepeated(
            Class<?> beanClass,
            MergedAnnotation<UpdateCache> hidden,
            Method overridden,
            List<MergedAnnotation<UpdateCache>> updates,
            Method running) {
        OperationFactory.CacheName cache = factory.name(factory.site(hidden, overridden, beanClass), hidden);
        boolean repeated = updates.stream()
                .anyMatch(update -> factory.name(factory.site(update, running, beanClass), update)
                        .equals(cache));
        if (!repeated) {
            Class<?> place = running.getDeclaringClass().isInterface() ? beanClass : running.getDeclaringClass();
            throw factory.site(updates.get(0), running, beanClass)
                    .problem(
                            "it replaces the @UpdateCache of the prefix '" + cache.prefix() + "' on the method of "
                                    + overridden.getDeclaringClass().getName()
                                    + ", so these entries would never be invalidated",
                            "Put both annotations on the method of " + place.getName() + ".");
        }
    }
}
