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
 * One step from an object to a property of it, without SpEL: a getter, an accessor of that very name, or a public field,
 * looked up once by the declared type.
 */
record Property(MethodHandle handle, Class<?> type) {

    private static final MethodType ANY = MethodType.methodType(Object.class, Object.class);

    /** Null if the type has no such property, or keeps it from us. */
    static @Nullable Property find(Class<?> owner, String property) {
        String capitalized = StringUtils.capitalize(property);
        return Stream.of("get" + capitalized, "is" + capitalized, property)
                .map(name -> method(owner, name))
                .filter(Objects::nonNull)
                .findFirst()
                .orElseGet(() -> field(owner, property));
    }

    /** Null if the type has no such method, or keeps it from us. */
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

    /** The property's value; null of null, so that a key says that a part of it is missing. */
    @Nullable Object of(@Nullable Object owner) throws Throwable {
        return owner == null ? null : (Object) handle.invokeExact(owner);
    }

    private static <T extends AccessibleObject & Member> boolean isOpen(T member) {
        return !Modifier.isStatic(member.getModifiers()) && member.trySetAccessible();
    }

    private static MethodHandle generic(MethodHandle handle) {
        return handle.asType(ANY);
    }
}
