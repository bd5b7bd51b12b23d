package io.easykit.boot;

import java.io.IOException;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.type.ClassMetadata;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;
import org.springframework.core.type.classreading.SimpleMetadataReaderFactory;
import org.springframework.util.ConcurrentReferenceHashMap;

/**
 * Finds the classes whose methods may have some annotations, on the method itself or on one that it overrides or implements. Reads
 * each declared method once. Spring's own search is exact, and is repeated for each method of each of the beans of a start, through
 * the hierarchy of its class. Of a class whose methods cannot be read ({@link MethodScan}) the file
 * decides.
 */
public final class AnnotatedTypes {

    private static final String JDK = "java.";

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

    /** As {@link #contains(Class)} for a class that is not loaded. A supertype that is missing from the class path counts as empty. */
    public boolean contains(MetadataReader type, MetadataReaderFactory classes) {
        ClassMetadata metadata = type.getClassMetadata();
        return annotations.stream().map(Class::getName).anyMatch(type.getAnnotationMetadata()::hasAnnotatedMethods)
                || Stream.concat(
                                Stream.ofNullable(metadata.getSuperClassName()),
                                Stream.of(metadata.getInterfaceNames()))
                        .anyMatch(parent -> contains(parent, classes));
    }

    private boolean contains(String type, MetadataReaderFactory classes) {
        if (type.startsWith(JDK)) {
            return false;
        }
        try {
            return contains(classes.getMetadataReader(type), classes);
        } catch (IOException missing) {
            return false;
        }
    }

    private boolean find(Class<?> type) {
        if (type.getName().startsWith(JDK)) {
            return false;
        }
        if (MethodScan.declared(type)
                .map(methods -> methods.stream().anyMatch(this::isAnnotated))
                .orElseGet(() -> isNamedIn(type))) {
            return true;
        }
        for (Class<?> implemented : type.getInterfaces()) {
            if (contains(implemented)) {
                return true;
            }
        }
        Class<?> parent = type.getSuperclass();
        return parent != null && contains(parent);
    }

    /** The same by the file of a class whose methods cannot be read. */
    private boolean isNamedIn(Class<?> type) {
        try {
            return annotations.stream()
                    .map(Class::getName)
                    .anyMatch(new SimpleMetadataReaderFactory(type.getClassLoader())
                            .getMetadataReader(type.getName())
                            .getAnnotationMetadata()::hasAnnotatedMethods);
        } catch (IOException missing) {
            return false;
        }
    }

    private boolean isAnnotated(Method method) {
        if (method.getDeclaredAnnotations().length == 0) {
            return false;
        }
        MergedAnnotations found = MergedAnnotations.from(method);
        return annotations.stream().anyMatch(found::isPresent);
    }
}
