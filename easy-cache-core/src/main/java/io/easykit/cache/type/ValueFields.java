package io.easykit.cache.type;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The fields of records, and of classes whose values cannot change. */
final class ValueFields {

    private ValueFields() {}

    /** In the order of their names. Null if the fields do not decide which values are equal, or cannot be read. */
    static @Nullable List<Field> of(Class<?> type) {
        // The name of a hidden class, such as that of a lambda, is another one in each process.
        if (type.getName().startsWith("java.") || type.isHidden() || (type.isRecord() && hasEqualsOfItsOwn(type))) {
            return null;
        }
        List<Field> fields = new ArrayList<>();
        for (Class<?> level = type; level != null && level != Object.class; level = level.getSuperclass()) {
            for (Field field : level.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers())) {
                    continue;
                }
                if (!Modifier.isFinal(field.getModifiers()) || !field.trySetAccessible()) {
                    return null;
                }
                fields.add(field);
            }
        }
        fields.sort(Comparator.comparing(Field::getName));
        // Objects without fields may be equal by identity. All values of a record without components are equal.
        return fields.isEmpty() && !type.isRecord() ? null : fields;
    }

    /** The compiler's own one is final. */
    private static boolean hasEqualsOfItsOwn(Class<?> type) {
        try {
            return !Modifier.isFinal(type.getMethod("equals", Object.class).getModifiers());
        } catch (NoSuchMethodException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    static @Nullable Object read(Field field, Object owner) {
        try {
            return field.get(owner);
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
