package io.easykit.cache.aop;

import io.easykit.cache.type.ImmutableTypes;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.ConcurrentModificationException;
import java.util.Currency;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.data.domain.PageRequest;
import org.springframework.data.domain.Sort;

/** Copies the arguments of a call, so that a background load uses the values at the time of the call. */
public final class ArgumentCopies {

    private static final Set<Class<?>> IMMUTABLE =
            Set.of(Locale.class, Currency.class, Class.class, PageRequest.class, Sort.class);

    /** Collections that can be replaced by an equal {@code ArrayList} or {@code LinkedHashSet}. */
    private static final Set<Class<?>> LISTS = Set.of(
            ArrayList.class,
            Arrays.asList().getClass(),
            List.of().getClass(),
            List.of(1).getClass());

    private static final Set<Class<?>> SETS = Set.of(
            LinkedHashSet.class,
            java.util.HashSet.class,
            Set.of().getClass(),
            Set.of(1).getClass());

    private static final Object IMPOSSIBLE = new Object();

    private ArgumentCopies() {}

    /** Returns null if an argument is mutable and cannot be copied, or if another thread changes it meanwhile. */
    public static Object @Nullable [] of(Object[] arguments) {
        try {
            return copiesOf(arguments);
        } catch (ConcurrentModificationException | IndexOutOfBoundsException changed) {
            return null;
        }
    }

    /** Whether the caller or the method can change an argument, or an element of one. */
    public static boolean mayChange(Object[] arguments) {
        return !holdsOnlyImmutable(Arrays.asList(arguments));
    }

    private static Object @Nullable [] copiesOf(Object[] arguments) {
        Object[] copies = new Object[arguments.length];
        for (int i = 0; i < arguments.length; i++) {
            Object copy = copy(arguments[i]);
            if (copy == IMPOSSIBLE) {
                return null;
            }
            copies[i] = copy;
        }
        return copies;
    }

    private static @Nullable Object copy(@Nullable Object value) {
        if (value == null || isImmutable(value)) {
            return value;
        }
        Class<?> type = value.getClass();
        if (type.isArray()) {
            return array(value);
        }
        if (LISTS.contains(type)) {
            return holdsOnlyImmutable((Collection<?>) value) ? new ArrayList<>((Collection<?>) value) : IMPOSSIBLE;
        }
        if (SETS.contains(type)) {
            return holdsOnlyImmutable((Collection<?>) value) ? new LinkedHashSet<>((Collection<?>) value) : IMPOSSIBLE;
        }
        return IMPOSSIBLE;
    }

    private static Object array(Object value) {
        int length = Array.getLength(value);
        boolean primitive = value.getClass().getComponentType().isPrimitive();
        if (!primitive && !holdsOnlyImmutable(Arrays.asList((Object[]) value))) {
            return IMPOSSIBLE;
        }
        Object copy = Array.newInstance(value.getClass().getComponentType(), length);
        System.arraycopy(value, 0, copy, 0, length);
        return copy;
    }

    private static boolean holdsOnlyImmutable(Collection<?> values) {
        for (Object value : values) {
            if (value != null && !isImmutable(value)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isImmutable(Object value) {
        if (value instanceof Optional<?> optional) {
            return optional.isEmpty() || isImmutable(optional.get());
        }
        return value instanceof Enum
                || IMMUTABLE.contains(value.getClass())
                || ImmutableTypes.contain(value.getClass());
    }
}
