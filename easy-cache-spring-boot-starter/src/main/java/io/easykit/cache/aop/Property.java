package io.easykit.cache.aop;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/**
 * One property access without SpEL: a getter, an accessor with the name of the property, or a public field. Resolved
 * once for the declared type.
 */
record Property(MethodHandle handle, Class<?> type) {

    private static final MethodType ANY = MethodType.methodType(Object.class, Object.class);

    /** Returns null if the type has no such accessible property. */
    static @Nullable Property find(Class<?> owner, String property) {
        String capitalized = StringUtils.capitalize(property);
        return Stream.of("get" + capitalized, "is" + capitalized, property)
                .map(name -> method(owner, name))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseGet(() -> field(owner, property));
    }

    /** Returns null if the type has no such accessible method. */
    static @Nullable Property method(Class<?> owner, String name) {
        try {
            Method method = owner.getMethod(name);
            return method.getReturnType() != void.class && isOpen(method)
                    ? new Property(generic(MethodHandles.lookup().unreflect(method)), method.getReturnType())
                    : null;
        } catch (NoSuchMethodException | IllegalAccessException none) {
            return null;
        }
    }

    private static @Nullable Property field(Class<?> owner, String name) {
        try {
            Field field = owner.getField(name);
            return isOpen(field)
                    ? new Property(generic(MethodHandles.lookup().unreflectGetter(field)), field.getType())
                    : null;
        } catch (NoSuchFieldException | IllegalAccessException none) {
            return null;
        }
    }

    /** Returns the value at the end of a path. */
    static @Nullable Object follow(@Nullable Object start, Property[] steps) {
        Object value = start;
        try {
            for (Property step : steps) {
                value = step.of(value);
            }
            return value;
        } catch (RuntimeException | Error failure) {
            throw failure;
        } catch (Throwable checked) {
            throw new IllegalStateException("An accessor used in a key failed", checked);
        }
    }

    /** Returns the value; null for a null owner, so that the missing key part is reported. */
    private @Nullable Object of(@Nullable Object owner) throws Throwable {
        return owner == null ? null : (Object) handle.invokeExact(owner);
    }

    private static <T extends AccessibleObject & Member> boolean isOpen(T member) {
        return !Modifier.isStatic(member.getModifiers()) && member.trySetAccessible();
    }

    private static MethodHandle generic(MethodHandle handle) {
        return handle.asType(ANY);
    }
}
