package io.easykit.cache.engine;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Collections that behave like the standard one of their kind, so that a copy makes no difference.
 *
 * <p>Other classes may answer differently: {@code JdbcTemplate} returns maps that ignore the case of a column's name, a map
 * may have default values, a list may have fields of its own. A copy of the standard class would lose that.
 */
final class PlainCollections {

    /** Wrappers and immutable collections. They add no behaviour to reads. */
    private static final List<String> FAMILIES = List.of(
            "java.util.",
            "org.hibernate.collection.spi.",
            "com.google.common.collect.Immutable",
            "kotlin.collections.");

    /** Kotlin's maps {@code withDefault}. */
    private static final Set<String> KOTLIN_DEFAULTS =
            Set.of("kotlin.collections.MapWithDefaultImpl", "kotlin.collections.MutableMapWithDefaultImpl");

    /** Guava's immutable collections are package-private subclasses of these. */
    private static final List<String> ANCESTORS = List.of(
            "com.google.common.collect.ImmutableList",
            "com.google.common.collect.ImmutableSet",
            "com.google.common.collect.ImmutableMap");

    private static final ClassValue<Boolean> PLAIN = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return isPlain(type);
        }
    };

    private PlainCollections() {}

    static boolean contain(Object collection) {
        return PLAIN.get(collection.getClass());
    }

    /** An anonymous subclass that only adds elements ({@code new ArrayList<>() {{ add(1); }}}) is as plain as its parent. */
    private static boolean isPlain(Class<?> type) {
        if (type == IdentityHashMap.class
                || Properties.class.isAssignableFrom(type)
                || KOTLIN_DEFAULTS.contains(type.getName())) {
            return false;
        }
        if (isOfAPlainFamily(type)) {
            return true;
        }
        Class<?> parent = type.getSuperclass();
        return parent != null && parent != Object.class && addsNothing(type) && isPlain(parent);
    }

    private static boolean isOfAPlainFamily(Class<?> type) {
        if (FAMILIES.stream().anyMatch(type.getName()::startsWith)) {
            return true;
        }
        for (Class<?> level = type; level != null; level = level.getSuperclass()) {
            if (ANCESTORS.contains(level.getName())) {
                return true;
            }
        }
        return false;
    }

    private static boolean addsNothing(Class<?> type) {
        return Stream.of(type.getDeclaredFields()).allMatch(PlainCollections::isNoState)
                && Stream.of(type.getDeclaredMethods()).allMatch(PlainCollections::isNoBehaviour);
    }

    private static boolean isNoState(Field field) {
        return Modifier.isStatic(field.getModifiers()) || field.isSynthetic();
    }

    private static boolean isNoBehaviour(Method method) {
        return Modifier.isStatic(method.getModifiers()) || method.isSynthetic();
    }
}
