package io.easykit.cache.engine;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Equality of values and collections of the JDK whose own {@code equals} leaves something out. */
final class JdkEquality {

    /** They inherit {@code equals} of {@link Object}, use the network in it, or ignore a part of the text. */
    private static final Set<String> BY_TEXT = Set.of(
            "java.util.concurrent.atomic.AtomicInteger",
            "java.util.concurrent.atomic.AtomicLong",
            "java.util.concurrent.atomic.AtomicBoolean",
            "java.util.concurrent.atomic.AtomicIntegerArray",
            "java.util.concurrent.atomic.AtomicLongArray",
            "java.util.concurrent.atomic.LongAdder",
            "java.lang.StringBuilder",
            "java.lang.StringBuffer",
            "java.net.URL");

    private JdkEquality() {}

    /** Compares two values of one class. */
    static boolean areEqual(Object one, Object other) {
        if (BY_TEXT.contains(one.getClass().getName())) {
            return one.toString().equals(other.toString());
        }
        if (one instanceof Pattern pattern) {
            return pattern.pattern().equals(((Pattern) other).pattern())
                    && pattern.flags() == ((Pattern) other).flags();
        }
        return one.equals(other) && haveTheSameRest(one, other);
    }

    private static boolean haveTheSameRest(Object one, Object other) {
        if (one instanceof ByteBuffer buffer) {
            return buffer.order() == ((ByteBuffer) other).order();
        }
        return haveTheSame("javax.xml.namespace.QName", "getPrefix", one, other)
                && haveTheSame("javax.xml.datatype.XMLGregorianCalendar", "getTimezone", one, other)
                && haveTheSame("javax.xml.datatype.XMLGregorianCalendar", "getXMLSchemaType", one, other);
    }

    /** By reflection, because the module of XML may be absent. True for values of other types. */
    private static boolean haveTheSame(String type, String getter, Object one, Object other) {
        for (Class<?> level = one.getClass(); level != null; level = level.getSuperclass()) {
            if (level.getName().equals(type)) {
                try {
                    Method method = level.getMethod(getter);
                    return Objects.equals(read(method, one), read(method, other));
                } catch (ReflectiveOperationException unknown) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Returns null if the value has no such part: the year and the hour of a calendar make no type of XML. */
    private static @Nullable Object read(Method getter, Object value) throws ReflectiveOperationException {
        try {
            return getter.invoke(value);
        } catch (InvocationTargetException failure) {
            if (failure.getCause() instanceof IllegalStateException) {
                return null;
            }
            throw failure;
        }
    }

    /**
     * Returns false if a wrapper of {@link java.util.Collections} wraps a map or set that ignores the case of its texts, and the
     * copy does not.
     */
    static boolean findTheSameTexts(Object one, Object other) {
        if (!one.getClass().getName().startsWith("java.util.Collections$")) {
            return true;
        }
        if (one instanceof Map<?, ?> map) {
            return findTheSameTexts(map.keySet(), ((Map<?, ?>) other).keySet());
        }
        return !(one instanceof Set<?> set) || findTheSameTexts(set, (Collection<?>) other);
    }

    private static boolean findTheSameTexts(Set<?> one, Collection<?> other) {
        return one.stream()
                .filter(String.class::isInstance)
                .map(Objects::toString)
                .allMatch(text -> findTheSame(text.toUpperCase(Locale.ROOT), one, other)
                        && findTheSame(text.toLowerCase(Locale.ROOT), one, other));
    }

    private static boolean findTheSame(String text, Collection<?> one, Collection<?> other) {
        return contains(one, text) == contains(other, text);
    }

    /** A comparator of the application may know only the texts that are there. */
    private static boolean contains(Collection<?> texts, String text) {
        try {
            return texts.contains(text);
        } catch (RuntimeException unknown) {
            return false;
        }
    }
}
