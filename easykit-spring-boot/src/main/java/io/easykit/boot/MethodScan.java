package io.easykit.boot;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodIntrospector.MetadataLookup;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;

/**
 * Reads the methods of classes of beans. A class counts as one without methods if a type of their signatures is missing from the class
 * path. A bean of such a class may be one that is never created. If it is created, Spring fails and names the class.
 */
public final class MethodScan {

    private static final Logger log = LoggerFactory.getLogger(MethodScan.class);

    private MethodScan() {}

    /** Returns the methods for which the lookup returns a value, also inherited ones, with these values. */
    public static <T> Map<Method, T> select(Class<?> type, MetadataLookup<@Nullable T> lookup) {
        return read(type, () -> MethodIntrospector.selectMethods(type, lookup), Map.of());
    }

    /** Returns the methods that match, also inherited ones. */
    public static Set<Method> filter(Class<?> type, MethodFilter filter) {
        return read(type, () -> MethodIntrospector.selectMethods(type, filter), Set.of());
    }

    /**
     * Returns the methods of superclasses and interfaces that match and that do not run themselves. Each has the method that runs
     * instead.
     */
    public static Map<Method, Method> overridden(Class<?> type, MethodFilter filter) {
        return read(type, () -> findOverridden(type, filter), Map.of());
    }

    private static Map<Method, Method> findOverridden(Class<?> type, MethodFilter filter) {
        Map<Method, Method> found = new LinkedHashMap<>();
        for (Class<?> supertype : supertypes(type, new LinkedHashSet<>())) {
            for (Method method : declared(supertype).orElse(List.of())) {
                if (method.isBridge() || Modifier.isStatic(method.getModifiers()) || !filter.matches(method)) {
                    continue;
                }
                Method running = BridgeMethodResolver.getMostSpecificMethod(method, type);
                if (!running.equals(method)) {
                    found.put(method, running);
                }
            }
        }
        return found;
    }

    private static Set<Class<?>> supertypes(Class<?> type, Set<Class<?>> found) {
        Stream.concat(Stream.ofNullable(type.getSuperclass()), Stream.of(type.getInterfaces()))
                .filter(found::add)
                .forEach(supertype -> supertypes(supertype, found));
        return found;
    }

    /** Returns the methods that the class itself declares; empty if they cannot be read. */
    static Optional<List<Method>> declared(Class<?> type) {
        return read(type, () -> Optional.of(List.of(ReflectionUtils.getDeclaredMethods(type))), Optional.empty());
    }

    private static <R> R read(Class<?> type, Supplier<R> methods, R none) {
        try {
            return methods.get();
        } catch (IllegalStateException | LinkageError failure) {
            // Spring wraps the error of reflection. Other exceptions are about the annotations.
            Throwable missing = failure instanceof IllegalStateException ? failure.getCause() : failure;
            if (!(missing instanceof LinkageError)) {
                throw failure;
            }
            log.debug("The methods of {} cannot be read", type.getName(), missing);
            return none;
        }
    }
}
