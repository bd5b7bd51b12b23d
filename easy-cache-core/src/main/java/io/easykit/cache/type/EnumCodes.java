package io.easykit.cache.type;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The texts that stand for the constants of an enum in JSON: those of the members with {@code @JsonValue}. */
final class EnumCodes {

    private static final String VALUE = "com.fasterxml.jackson.annotation.JsonValue";

    /** In place of a text that cannot be read. */
    private static final String UNKNOWN = "?";

    private EnumCodes() {}

    /** The fields and methods of an enum, and of its interfaces, that return such a text. */
    static List<AccessibleObject> membersOf(Class<?> type) {
        return withInterfaces(type)
                .flatMap(one -> Stream.<AccessibleObject>concat(
                        Stream.of(one.getDeclaredFields()), Stream.of(one.getDeclaredMethods())))
                .filter(member -> isValue(member))
                .distinct()
                .sorted(Comparator.comparing(Object::toString))
                .toList();
    }

    private static Stream<Class<?>> withInterfaces(Class<?> type) {
        return Stream.concat(Stream.of(type), Stream.of(type.getInterfaces()).flatMap(EnumCodes::withInterfaces));
    }

    private static boolean isValue(AccessibleObject member) {
        return Stream.of(member.getDeclaredAnnotations())
                .anyMatch(annotation -> annotation.annotationType().getName().equals(VALUE));
    }

    /** The field of a constant, with its annotations. An obfuscator may have given it another name. */
    static Optional<Field> fieldOf(Enum<?> constant) {
        Class<?> type = constant.getDeclaringClass();
        try {
            return Optional.of(type.getDeclaredField(constant.name()));
        } catch (NoSuchFieldException renamed) {
            return Stream.of(type.getDeclaredFields())
                    .filter(field -> field.isEnumConstant() && holds(field, constant))
                    .findFirst();
        }
    }

    private static boolean holds(Field field, Enum<?> constant) {
        try {
            field.setAccessible(true);
            return field.get(null) == constant;
        } catch (ReflectiveOperationException | RuntimeException unreadable) {
            return false;
        }
    }

    /** Calls code of the application if the member is a method. */
    static String read(AccessibleObject member, Object constant) {
        try {
            member.setAccessible(true);
            Object code = member instanceof Field field ? field.get(constant) : ((Method) member).invoke(constant);
            return isText(code) ? String.valueOf(code) : UNKNOWN;
        } catch (ReflectiveOperationException | RuntimeException unreadable) {
            return UNKNOWN;
        }
    }

    /** Whether each JVM has the same text for it. That of an array, for example, is its address. */
    private static boolean isText(@Nullable Object code) {
        return code == null
                || code instanceof String
                || code instanceof Character
                || code instanceof Number
                || code instanceof Boolean
                || code instanceof Enum<?>;
    }
}
