package io.easykit.boot;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ConcurrentReferenceHashMap;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the classes whose methods may have some annotations, on the method itself or on one that it overrides or implements. Reads
 * each declared method once. Spring's own search is exact, and is repeated for each method of each of the beans of a start, through
 * the hierarchy of its class.
 */
public final class AnnotatedTypes {

    private final List<Class<? extends Annotation>> annotations;
    private final Map<Class<?>, Boolean> known = new ConcurrentReferenceHashMap<>();

    /** @param annotations those of methods, with the containers of repeatable ones. An annotation that has one of them counts as well */
    public AnnotatedTypes(List<Class<? extends Annotation>> annotations) {
        this.annotations = List.copyOf(annotations);
    }

    /** Whether the class, or one of its superclasses or interfaces, declares a method with one of the annotations. */
    public boolean contains(Class<?> type) {
        Boolean found = known.get(type);
        if (found == null) {
            found = find(type);
            known.put(type, found);
        }
        return found;
    }

    private boolean find(Class<?> type) {
        if (type.getName().startsWith("java.")) {
            return false;
        }
        for (Method method : ReflectionUtils.getDeclaredMethods(type)) {
            if (isAnnotated(method)) {
                return true;
            }
        }
        for (Class<?> implemented : type.getInterfaces()) {
            if (contains(implemented)) {
                return true;
            }
        }
        Class<?> parent = type.getSuperclass();
        return parent != null && contains(parent);
    }

    private boolean isAnnotated(Method method) {
        if (method.getDeclaredAnnotations().length == 0) {
            return false;
        }
        MergedAnnotations found = MergedAnnotations.from(method);
        return annotations.stream().anyMatch(found::isPresent);
    }
}
