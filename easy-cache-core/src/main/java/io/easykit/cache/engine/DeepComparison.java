package io.easykit.cache.engine;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Properties;
import java.util.Queue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Compares a value with the copy that a reader would get from the store.
 *
 * <p>Does not rely on {@code equals} of application classes: an entity is often equal by its id alone. Objects are equal
 * if they are of the same class and all their fields are equal, {@code transient} ones included. Fields that a persistence
 * provider has added are skipped, and messages of Protobuf are compared by their {@code equals} ({@link GeneratedCode}).
 * Classes of the JDK are compared by their {@code equals}, and by what that leaves out ({@link JdkEquality}).
 *
 * <p>Collections and maps are equal if they are of one kind (list, set, queue, map), in the same order, with equal elements:
 * a {@code List.of()} may come back as an {@code ArrayList}. The order of hash tables does not count ({@link HashOrder}). A
 * collection class that may behave differently, such as a map that ignores case, must come back as the same class
 * ({@link PlainCollections}).
 */
final class DeepComparison {

    private static final ClassValue<List<Field>> FIELDS = new ClassValue<>() {
        @Override
        protected List<Field> computeValue(Class<?> type) {
            return fieldsOf(type);
        }
    };

    /** Pairs that are compared already, so that circles end. */
    private final Set<Pair> seen = new HashSet<>();

    private DeepComparison() {}

    /** Returns the place of the difference, for example {@code .owner: User instead of Admin}; null if there is none. */
    static @Nullable String difference(Object original, Object copy) {
        return new DeepComparison().compare("", original, copy);
    }

    private @Nullable String compare(String path, @Nullable Object one, @Nullable Object other) {
        if (one == other) {
            return null;
        }
        if (one == null || other == null) {
            return path + ": " + nameOf(other) + " instead of " + nameOf(one);
        }
        if (isContainer(one)) {
            return compareContainers(path, one, other);
        }
        if (one.getClass() != other.getClass()) {
            return path + ": " + nameOf(other) + " instead of " + nameOf(one);
        }
        if (one instanceof Enum<?> || one instanceof Class<?>) {
            return changed(path, one);
        }
        if (isOfTheJdk(one.getClass())) {
            return JdkEquality.areEqual(one, other) ? null : changed(path, one);
        }
        if (GeneratedCode.isMessage(one)) {
            return one.equals(other) ? null : changed(path, one);
        }
        return compareFields(path, one, other);
    }

    private static boolean isContainer(Object value) {
        return value instanceof Collection<?>
                || value instanceof Map<?, ?>
                || value instanceof Map.Entry<?, ?>
                || value instanceof Optional<?>
                || value instanceof AtomicReference<?>
                || value.getClass().isArray();
    }

    private @Nullable String compareContainers(String path, Object one, Object other) {
        if (!seen.add(new Pair(one, other))) {
            return null;
        }
        String difference = one instanceof Collection<?> || one instanceof Map<?, ?>
                ? compareCollections(path, one, other)
                : compareHolders(path, one, other);
        // A collection class of the application's may have fields of its own.
        return difference == null
                        && one.getClass() == other.getClass()
                        && !one.getClass().isArray()
                ? compareOwnFields(path, one, other)
                : difference;
    }

    private @Nullable String compareHolders(String path, Object one, Object other) {
        if (one.getClass() != other.getClass()) {
            return path + ": " + nameOf(other) + " instead of " + nameOf(one);
        }
        if (one instanceof Optional<?> optional) {
            return compare(path, optional.orElse(null), ((Optional<?>) other).orElse(null));
        }
        if (one instanceof Map.Entry<?, ?> entry) {
            return compareEntries(path, entry, (Map.Entry<?, ?>) other);
        }
        if (one instanceof AtomicReference<?> reference) {
            return compare(path, reference.get(), ((AtomicReference<?>) other).get());
        }
        int length = Array.getLength(one);
        if (length != Array.getLength(other)) {
            return changed(path, one);
        }
        if (one.getClass().getComponentType().isPrimitive()) {
            return Objects.deepEquals(one, other) ? null : changed(path, one);
        }
        for (int i = 0; i < length; i++) {
            String difference = compare(path + "[" + i + "]", Array.get(one, i), Array.get(other, i));
            if (difference != null) {
                return difference;
            }
        }
        return null;
    }

    private @Nullable String compareEntries(String path, Map.Entry<?, ?> one, Map.Entry<?, ?> other) {
        String difference = compare(path + " key", one.getKey(), other.getKey());
        return difference != null ? difference : compare(path + "{}", one.getValue(), other.getValue());
    }

    private @Nullable String compareCollections(String path, Object one, Object other) {
        if (!areOfOneKind(one, other)) {
            return path + ": " + nameOf(other) + " instead of " + nameOf(one);
        }
        if (one.getClass() != other.getClass() && !PlainCollections.contain(one)) {
            return path + ": " + nameOf(other) + " instead of " + nameOf(one)
                    + ", which may behave differently (copy it into one of java.util, or return exactly that class)";
        }
        if (!Objects.equals(comparatorOf(one), comparatorOf(other))) {
            return path + ": " + nameOf(other) + " without the order of the " + nameOf(one);
        }
        if (sizeOf(one) != sizeOf(other) || !haveTheSameDefaults(one, other)) {
            return changed(path, one);
        }
        if (!JdkEquality.findTheSameTexts(one, other)) {
            return path + ": " + nameOf(other) + " instead of a " + nameOf(one) + " that ignores case";
        }
        if (one instanceof Map<?, ?> map) {
            return compareMaps(path, map, (Map<?, ?>) other);
        }
        return compareInOrder(
                path,
                (Collection<?>) one,
                one instanceof Set<?> set ? HashOrder.elements(set, (Set<?>) other) : (Collection<?>) other);
    }

    private static boolean areOfOneKind(Object one, Object other) {
        if (one instanceof Map<?, ?>) {
            return other instanceof Map<?, ?>;
        }
        if (one instanceof Set<?>) {
            return other instanceof Set<?>;
        }
        if (one instanceof List<?>) {
            return other instanceof List<?>;
        }
        return one instanceof Queue<?>
                ? other instanceof Queue<?>
                : other instanceof Collection<?> && !(other instanceof Set<?>);
    }

    private static int sizeOf(Object value) {
        return value instanceof Map<?, ?> map ? map.size() : ((Collection<?>) value).size();
    }

    /** Properties may have further ones as defaults, which are no entries. */
    private static boolean haveTheSameDefaults(Object one, Object other) {
        return !(one instanceof Properties properties)
                || (other instanceof Properties copies
                        && properties.stringPropertyNames().equals(copies.stringPropertyNames()));
    }

    private static @Nullable Comparator<?> comparatorOf(Object value) {
        if (value instanceof SortedSet<?> set) {
            return set.comparator();
        }
        if (value instanceof SortedMap<?, ?> map) {
            return map.comparator();
        }
        return value instanceof PriorityQueue<?> queue ? queue.comparator() : null;
    }

    private @Nullable String compareInOrder(String path, Collection<?> one, Collection<?> other) {
        Iterator<?> copies = other.iterator();
        int index = 0;
        for (Object element : one) {
            String at = path + "[" + index++ + "]";
            String difference = copies.hasNext() ? compare(at, element, copies.next()) : changed(at, element);
            if (difference != null) {
                return difference;
            }
        }
        return null;
    }

    private @Nullable String compareMaps(String path, Map<?, ?> one, Map<?, ?> other) {
        Iterator<?> copies = HashOrder.entries(one, other).iterator();
        for (Map.Entry<?, ?> entry : one.entrySet()) {
            String difference = compareEntries(path, entry, (Map.Entry<?, ?>) copies.next());
            if (difference != null) {
                return difference;
            }
        }
        return null;
    }

    private @Nullable String compareFields(String path, Object one, Object other) {
        return seen.add(new Pair(one, other)) ? compareOwnFields(path, one, other) : null;
    }

    private @Nullable String compareOwnFields(String path, Object one, Object other) {
        for (Field field : FIELDS.get(one.getClass())) {
            Object content = read(field, one);
            String difference = GeneratedCode.hasNothingToLoad(field, content)
                    ? null
                    : compare(path + "." + field.getName(), content, read(field, other));
            if (difference != null) {
                return Modifier.isTransient(field.getModifiers()) ? difference + " (it is transient)" : difference;
            }
        }
        return null;
    }

    private static boolean isOfTheJdk(Class<?> type) {
        return Stream.of("java.", "javax.", "jdk.", "sun.", "com.sun.").anyMatch(type.getName()::startsWith)
                && !type.isHidden();
    }

    private static List<Field> fieldsOf(Class<?> type) {
        List<Field> fields = new ArrayList<>();
        for (Class<?> level = type; level != null && !isOfTheJdk(level); level = level.getSuperclass()) {
            for (Field field : level.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers())
                        && !field.isSynthetic()
                        && !GeneratedCode.isOfAPersistenceProvider(field)) {
                    if (!field.trySetAccessible()) {
                        throw new IllegalStateException("its field " + field + " cannot be read");
                    }
                    fields.add(field);
                }
            }
        }
        return fields;
    }

    private static @Nullable Object read(Field field, Object owner) {
        try {
            return field.get(owner);
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static String changed(String path, @Nullable Object value) {
        return path + ": another " + nameOf(value);
    }

    private static String nameOf(@Nullable Object value) {
        return value == null ? "null" : value.getClass().getTypeName();
    }

    /** Two objects, by identity. */
    private record Pair(Object one, Object other) {

        @Override
        public boolean equals(@Nullable Object that) {
            return that instanceof Pair pair && pair.one == one && pair.other == other;
        }

        @Override
        public int hashCode() {
            return 31 * System.identityHashCode(one) + System.identityHashCode(other);
        }
    }
}
