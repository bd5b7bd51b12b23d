package io.easykit.cache.engine;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Pairs the content of a hash table with that of its copy. The order of a hash table depends on its history. */
final class HashOrder {

    private static final Object NONE = new Object();

    private HashOrder() {}

    /** Returns the elements of the copy, in the order of the original if the two may differ in it. */
    static Collection<?> elements(Set<?> one, Set<?> copy) {
        return mayDiffer(one, copy) ? arrange(copy, one, UnaryOperator.identity()) : copy;
    }

    /** Returns the entries of the copy, in the order of the original if the two may differ in it. */
    static Collection<?> entries(Map<?, ?> one, Map<?, ?> copy) {
        return mayDiffer(one, copy)
                ? arrange(copy.entrySet(), one.keySet(), entry -> ((Map.Entry<?, ?>) entry).getKey())
                : copy.entrySet();
    }

    /** A wrapper, or a map that is not of the JDK, may hold a hash table, and so may its copy of the same class. */
    private static boolean mayDiffer(Map<?, ?> map, Map<?, ?> copy) {
        boolean isOrdered = map instanceof LinkedHashMap || map instanceof SortedMap || map instanceof EnumMap;
        return isHashTable(map) || (!isOrdered && map.getClass() == copy.getClass());
    }

    private static boolean mayDiffer(Set<?> set, Set<?> copy) {
        boolean isOrdered = set instanceof LinkedHashSet
                || set instanceof SortedSet
                || set instanceof EnumSet
                || set instanceof CopyOnWriteArraySet;
        return isHashTable(set) || (!isOrdered && set.getClass() == copy.getClass());
    }

    @SuppressWarnings("JdkObsolete") // what applications return
    private static boolean isHashTable(Map<?, ?> map) {
        return (map instanceof HashMap && !(map instanceof LinkedHashMap))
                || map instanceof ConcurrentHashMap
                || map instanceof Hashtable
                || map instanceof WeakHashMap
                || isImmutable(map);
    }

    private static boolean isHashTable(Set<?> set) {
        return (set instanceof HashSet && !(set instanceof LinkedHashSet))
                || set instanceof ConcurrentHashMap.KeySetView
                || isImmutable(set);
    }

    private static boolean isImmutable(Object collection) {
        return collection.getClass().getName().startsWith("java.util.ImmutableCollections$");
    }

    /**
     * Returns the copies in the order of the keys. Those with a key that is not among them, such as one without {@code equals}, take
     * the free places in their own order.
     */
    private static Collection<?> arrange(
            Collection<?> copies, Collection<?> keys, UnaryOperator<@Nullable Object> keyOf) {
        if (haveTheOrder(copies, keys, keyOf)) {
            return copies;
        }
        Map<@Nullable Object, @Nullable Object> index = new LinkedHashMap<>();
        List<@Nullable Object> others = new ArrayList<>();
        for (Object copy : copies) {
            if (index.containsKey(keyOf.apply(copy))) {
                others.add(copy);
            } else {
                index.put(keyOf.apply(copy), copy);
            }
        }
        List<@Nullable Object> arranged = new ArrayList<>();
        for (Object key : keys) {
            arranged.add(index.containsKey(key) ? index.remove(key) : NONE);
        }
        others.addAll(0, index.values());
        Iterator<@Nullable Object> rest = others.iterator();
        arranged.replaceAll(copy -> copy == NONE ? rest.next() : copy);
        return arranged;
    }

    private static boolean haveTheOrder(
            Collection<?> copies, Collection<?> keys, UnaryOperator<@Nullable Object> keyOf) {
        Iterator<?> expected = keys.iterator();
        for (Object copy : copies) {
            if (!expected.hasNext() || !Objects.equals(expected.next(), keyOf.apply(copy))) {
                return false;
            }
        }
        return true;
    }
}
