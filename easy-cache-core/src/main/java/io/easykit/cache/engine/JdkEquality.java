package io.easykit.cache.engine;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashMap;
import java.util.Hashtable;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;

/** Equality of values and maps of the JDK whose own {@code equals} leaves something out. */
final class JdkEquality {

    /** They inherit {@code equals} of {@link Object}, use the network in it, or ignore a part of the text. */
    private static final Set<String> BY_TEXT = Set.of(
            "java.util.concurrent.atomic.AtomicInteger",
            "java.util.concurrent.atomic.AtomicLong",
            "java.util.concurrent.atomic.AtomicBoolean",
            "java.lang.StringBuilder",
            "java.lang.StringBuffer",
            "java.net.URL",
            "com.sun.org.apache.xerces.internal.jaxp.datatype.XMLGregorianCalendarImpl");

    private JdkEquality() {}

    /** Compares two values of one class. */
    static boolean areEqual(Object one, Object other) {
        if (BY_TEXT.contains(one.getClass().getName())) {
            return one.toString().equals(other.toString());
        }
        return one.equals(other) && haveTheSameRest(one, other);
    }

    private static boolean haveTheSameRest(Object one, Object other) {
        if (one instanceof ByteBuffer buffer) {
            return buffer.order() == ((ByteBuffer) other).order();
        }
        return !one.getClass().getName().equals("javax.xml.namespace.QName")
                || prefix(one).equals(prefix(other));
    }

    /** By reflection, because the module of XML may be absent. */
    private static Object prefix(Object name) {
        try {
            return name.getClass().getMethod("getPrefix").invoke(name);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Maps whose order may depend on their history, which a copy does not share. */
    @SuppressWarnings("JdkObsolete") // what applications return
    static boolean isHashOrdered(Map<?, ?> map) {
        return (map instanceof HashMap && !(map instanceof LinkedHashMap))
                || map instanceof ConcurrentHashMap
                || map instanceof Hashtable
                || map instanceof WeakHashMap
                || map.getClass().getName().startsWith("java.util.ImmutableCollections$");
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
        return one.contains(text) == other.contains(text);
    }
}
