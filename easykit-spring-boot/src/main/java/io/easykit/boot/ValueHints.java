package io.easykit.boot;

import java.lang.annotation.Annotation;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;

/**
 * Hints for native images about the types of values that are written as JSON: the types, and all that their fields can hold.
 *
 * <p>{@link BindingReflectionHintsRegistrar} follows properties. Cached values are written by their fields, and fingerprints of
 * types read methods, so this class also follows fields and subtypes, and registers all methods.
 */
public final class ValueHints {

    private static final Logger log = LoggerFactory.getLogger(ValueHints.class);

    private static final String SUBTYPES = "com.fasterxml.jackson.annotation.JsonSubTypes";

    private final BindingReflectionHintsRegistrar properties = new BindingReflectionHintsRegistrar();
    private final Set<Followed> followed = new HashSet<>();
    private final Set<Class<?>> registered = new HashSet<>();
    private final RuntimeHints hints;

    public ValueHints(RuntimeHints hints) {
        this.hints = hints;
    }

    /** A type in one meaning. A type variable has one in each place, and may be its own bound: {@code E extends Enum<E>}. */
    private record Followed(Type type, @Nullable Class<?> meaning) {}

    /**
     * Returns the type of a bean as far as its definition shows it: for a factory, that of its product.
     *
     * @return the class that the application wrote, or an interface
     */
    public static Class<?> typeOf(RegisteredBean bean) {
        Class<?> product = bean.getBeanFactory().getType(bean.getBeanName(), false);
        return ClassUtils.getUserClass(product == null ? bean.getBeanClass() : product);
    }

    /** Adds a type, its type arguments, and the types of their fields. Types of the JDK need no hints. */
    public void add(ResolvableType type) {
        Class<?> known = type.resolve();
        if (!followed.add(new Followed(type.getType(), known))) {
            return;
        }
        Stream.of(type.getGenerics()).forEach(this::add);
        if (type.isArray()) {
            add(type.getComponentType());
        } else if (known != null && !known.isPrimitive() && !isOfJdk(known)) {
            try {
                register(known);
                Stream.of(known.getDeclaredFields())
                        .filter(ValueHints::isState)
                        .forEach(field -> add(ResolvableType.forField(field, type)));
                add(type.getSuperType());
                subtypes(known).map(ResolvableType::forClass).forEach(this::add);
            } catch (LinkageError missing) {
                log.warn(
                        "{} gets no hints for a native image, because a class that it uses is missing: {}",
                        known.getName(),
                        missing.toString());
            }
        }
    }

    private void register(Class<?> type) {
        if (registered.add(type)) {
            hints.reflection()
                    .registerType(
                            type,
                            MemberCategory.ACCESS_DECLARED_FIELDS,
                            MemberCategory.INVOKE_DECLARED_CONSTRUCTORS,
                            MemberCategory.INVOKE_DECLARED_METHODS);
            properties.registerReflectionHints(hints.reflection(), type);
        }
    }

    private static boolean isState(Field field) {
        return !Modifier.isStatic(field.getModifiers());
    }

    private static boolean isOfJdk(Class<?> type) {
        return type.getClassLoader() == null || type.getClassLoader() == ClassLoader.getPlatformClassLoader();
    }

    /** Those of a sealed type, and those that Jackson's annotation names. */
    private static Stream<Class<?>> subtypes(Class<?> type) {
        Stream<Class<?>> permitted = type.isSealed() ? Stream.of(type.getPermittedSubclasses()) : Stream.empty();
        MergedAnnotation<?> named = MergedAnnotations.from(type).get(SUBTYPES);
        return named.isPresent()
                ? Stream.concat(
                        permitted,
                        Stream.of(named.getAnnotationArray("value", Annotation.class))
                                .map(each -> each.getClass("value")))
                : permitted;
    }
}
