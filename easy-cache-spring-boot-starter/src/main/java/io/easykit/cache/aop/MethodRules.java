package io.easykit.cache.aop;

import io.easykit.boot.ClassProxies;
import io.easykit.cache.CacheKey;
import io.easykit.cache.style.ReturnedValue;
import java.io.Closeable;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.Enumeration;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.Spliterator;
import java.util.concurrent.Future;
import java.util.stream.BaseStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Caching;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.io.InputStreamSource;
import org.springframework.util.ClassUtils;

/** Rules for intercepted methods and cached types. */
final class MethodRules {

    private static final List<Class<?>> ONE_SHOT = List.of(
            BaseStream.class,
            Iterator.class,
            Spliterator.class,
            Enumeration.class,
            Closeable.class,
            InputStreamSource.class);

    /** Names, because the types may be missing from the class path. */
    private static final List<String> RESPONSES = List.of(
            "org.springframework.http.HttpEntity",
            "org.springframework.web.servlet.ModelAndView",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter");

    private static final List<Class<? extends Annotation>> SPRINGS_OWN = List.of(
            org.springframework.cache.annotation.Cacheable.class, CachePut.class, CacheEvict.class, Caching.class);

    private MethodRules() {}

    /**
     * @param classProxies whether beans with interfaces get class proxies too
     */
    static void requireInterceptable(CachedMethod where, boolean classProxies) {
        int modifiers = where.method().getModifiers();
        if (Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers)) {
            throw where.problem(
                    "a " + (Modifier.isStatic(modifiers) ? "static" : "private") + " method cannot be intercepted",
                    "Make it a public instance method, and call it from another bean.");
        }
        if (!classProxies && isInInterface(where)) {
            return;
        }
        if (where.targetClass().isRecord()) {
            throw where.problem(
                    "a record cannot be proxied, since it is final", "Make the bean a class that is not final.");
        }
        if (Modifier.isFinal(where.targetClass().getModifiers())) {
            throw where.problem(
                    "a final class cannot be proxied",
                    "Remove 'final' from the class (in Kotlin: 'open', or the plugin kotlin-spring).");
        }
        if (Modifier.isFinal(modifiers)) {
            throw where.problem(
                    "a final method cannot be intercepted",
                    "Remove 'final' from the method (in Kotlin: 'open', or the plugin kotlin-spring).");
        }
        if (ClassProxies.cannotOverride(where.method(), where.targetClass())) {
            throw where.problem(
                    "a package-private method of another package cannot be intercepted, because the proxy of the bean"
                            + " cannot override it",
                    "Make the method protected or public.");
        }
    }

    private static boolean isInInterface(CachedMethod where) {
        return ClassUtils.getInterfaceMethodIfPossible(where.method(), where.targetClass())
                .getDeclaringClass()
                .isInterface();
    }

    static void requireOneCacheOnly(CachedMethod where) {
        int reads =
                CacheAnnotations.cacheable(where.method(), where.targetClass()).size();
        if (reads > 1) {
            throw where.problem(
                    reads
                            + " @Cacheables are on one method, some of them by composed annotations, and only one cache could"
                            + " be used",
                    "Keep one of them.");
        }
        if (reads > 0
                && !CacheAnnotations.updateCache(where.method(), where.targetClass())
                        .isEmpty()) {
            throw where.problem(
                    "@Cacheable and @UpdateCache are on one method, so a hit would skip the update",
                    "Keep one of them. A method that changes data is not cached.");
        }
        MergedAnnotation<?> onMethod = springs(where.method());
        if (onMethod != null) {
            throw where.problem(
                    "Spring's @" + onMethod.getType().getSimpleName()
                            + " is on the same method, so two caches would be used",
                    "Keep one of them, and check the imports.");
        }
        MergedAnnotation<?> onType = springs(where.method().getDeclaringClass());
        if (onType != null && onType.getSource() instanceof Class<?> type) {
            throw where.problem(
                    "Spring's @" + onType.getType().getSimpleName() + " is on " + type.getName()
                            + " and applies to all of its methods, so two caches would be used",
                    "Put it on single methods, or move this method to a class without it.");
        }
    }

    /** Returns one of Spring's own annotations; null if there is none. */
    private static @Nullable MergedAnnotation<?> springs(AnnotatedElement element) {
        MergedAnnotations present = CacheAnnotations.on(element);
        for (Class<? extends Annotation> one : SPRINGS_OWN) {
            if (present.isPresent(one)) {
                return present.get(one);
            }
        }
        return null;
    }

    /** Returns how a method returns its value: one, and at once or by a future or publisher that can be created. */
    static ReturnedValue requireOneValue(CachedMethod where) {
        ReturnedValue returned = ReturnedValue.of(where.method(), where.targetClass());
        if (returned.isUnsupported()) {
            throw where.problem(
                    "the method is asynchronous (" + returned.rawMethod().getTypeName()
                            + ") and does not return one value by a CompletableFuture or a Mono, which is not supported",
                    "Return a CompletableFuture or a Mono, for example with Flux.collectList(), or with mono { … } in"
                            + " Kotlin.");
        }
        return returned;
    }

    /**
     * Checks an expression of which each element is a key.
     *
     * @return the type of an element; null if only the value determines it
     */
    static @Nullable Class<?> requireElements(CachedMethod where, String text, Compiled compiled) {
        Class<?> type = compiled.type();
        if (type == null || type == Object.class) {
            return null;
        }
        if (!type.isArray() && !Iterable.class.isAssignableFrom(type)) {
            throw where.problem(
                    "batch = true, but '" + text + "' in keys is a " + type.getTypeName() + ", which has no elements",
                    "Write an expression whose value is a collection or array, for example keys = \"#users.![id]\","
                            + " or remove batch.");
        }
        return type.isArray()
                ? type.getComponentType()
                : ResolvableType.forType(compiled.genericType())
                        .as(Iterable.class)
                        .getGeneric(0)
                        .resolve();
    }

    static void requireFitForKeys(CachedMethod where, String text, @Nullable Class<?> element) {
        Type unfit = element == null ? null : CacheKey.unfitFor(element);
        if (unfit != null) {
            throw where.problem(
                    "the elements of '" + text + "' are of " + unfit.getTypeName()
                            + ", which has no text that is equal for equal values and different for different values",
                    "Use their ids, for example keys = \"#users.![id]\", or make it a record.");
        }
    }

    /** Returns the full generic type of the values. */
    static Type requireCacheableType(CachedMethod where) {
        return requireCacheableType(where, requireOneValue(where).arrived());
    }

    /** Returns the full generic type of values of a type. */
    static Type requireCacheableType(CachedMethod where, ResolvableType type) {
        requireRestorable(where, type);
        if (type.resolve() == Optional.class) {
            requireRestorable(where, type.getGeneric(0));
        }
        return fullType(type);
    }

    /** Replaces all type variables, at any depth, as declared by the concrete class. */
    private static Type fullType(ResolvableType type) {
        return fullType(type, Set.of());
    }

    /** @param around the types that contain this one. The bound of a variable may contain the variable: {@code T extends Comparable<T>} */
    private static Type fullType(ResolvableType type, Set<Type> around) {
        Class<?> raw = type.resolve(Object.class);
        if (type.isArray()) {
            return fullType(type.getComponentType(), around) instanceof Class<?> component
                    ? component.arrayType()
                    : type.getType();
        }
        if (!type.hasGenerics() || around.contains(type.getType())) {
            return raw;
        }
        Set<Type> inside = new HashSet<>(around);
        inside.add(type.getType());
        ResolvableType[] arguments = Stream.of(type.getGenerics())
                .map(argument -> ResolvableType.forType(fullType(argument, inside)))
                .toArray(ResolvableType[]::new);
        return ResolvableType.forClassWithGenerics(raw, arguments).getType();
    }

    private static void requireRestorable(CachedMethod where, ResolvableType type) {
        Class<?> raw = type.resolve();
        if (raw == void.class || raw == Void.class) {
            throw where.problem("the method returns nothing", "Return a value, or remove the annotation.");
        }
        if (raw == null || raw == Object.class) {
            throw where.problem(
                    "a value cannot be restored from the type '"
                            + where.method().getGenericReturnType().getTypeName() + "'",
                    "Declare the type of the values, for example User or List<User>.");
        }
        if (isOneShot(raw)) {
            throw where.problem(
                    raw.getTypeName() + " can be read once only, or belongs to one response",
                    "Return the content, for example a list or a byte[].");
        }
        if (isAsynchronous(raw)) {
            throw where.problem(
                    raw.getTypeName() + " is an asynchronous value, which is not supported", "Return the plain value.");
        }
        for (ResolvableType part : type.getGenerics()) {
            Class<?> inner = part.resolve();
            if (inner != null && (isOneShot(inner) || isAsynchronous(inner))) {
                requireRestorable(where, part);
            }
        }
    }

    private static boolean isAsynchronous(Class<?> type) {
        return Future.class.isAssignableFrom(type)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
    }

    private static boolean isOneShot(Class<?> type) {
        return ONE_SHOT.stream().anyMatch(some -> some.isAssignableFrom(type))
                || RESPONSES.stream().anyMatch(name -> hasSupertype(type, name));
    }

    private static boolean hasSupertype(@Nullable Class<?> type, String name) {
        return type != null && (type.getName().equals(name) || hasSupertype(type.getSuperclass(), name));
    }
}
