package io.easykit.delayqueue.jackson;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.deser.bean.BeanDeserializerBase;
import tools.jackson.databind.ser.BeanPropertyWriter;
import tools.jackson.databind.ser.PropertyWriter;

/**
 * The class as which a property is read, whatever the class of its value. A value of another class with fields of its own is refused,
 * because its receiver would get an object without them.
 */
final class DeclaredType {

    private final BeanDeserializerBase reader;

    DeclaredType(BeanDeserializerBase reader) {
        this.reader = reader;
    }

    /**
     * Returns true if Jackson chooses the serializer by the class of each value, and writes no type id. Not of a type
     * variable, which only the receiver may resolve.
     */
    static boolean isChosenByValue(BeanPropertyWriter property) {
        JavaType type = property.getType();
        return property.getTypeSerializer() == null
                && !property.hasSerializer()
                && !type.isFinal()
                && !type.isTypeOrSubTypeOf(Throwable.class) // of what is caught the message is sent
                && !type.isContainerType()
                && !(genericType(property) instanceof TypeVariable);
    }

    private static @Nullable Type genericType(BeanPropertyWriter property) {
        Object member =
                property.getMember() == null ? null : property.getMember().getAnnotated();
        if (member instanceof Field field) {
            return field.getGenericType();
        }
        return member instanceof Method getter ? getter.getGenericReturnType() : null;
    }

    /** Returns the refusal of a class of values; null if nothing of them is lost. */
    @Nullable ValueSerializer<Object> refusalOf(Class<?> value, BeanPropertyWriter property, SerializationContext context) {
        Set<String> fields = ownFields(value);
        if (fields.isEmpty()) {
            return null;
        }
        ValueSerializer<?> writer = context.findPrimaryPropertySerializer(value, property);
        Set<String> cut = new TreeSet<>();
        if (LossCheck.isOrdinary(writer)) {
            writer.properties().forEachRemaining(written -> {
                if (!reader.hasProperty(written.getName()) && isOneOf(fields, written)) {
                    cut.add(written.getName());
                }
            });
        }
        return cut.isEmpty() ? null : new Refusal(property.getType(), describe(value, property, cut));
    }

    /** Of the levels between the class of a value and the one that it is read as. */
    private Set<String> ownFields(Class<?> value) {
        Class<?> declared = reader.getValueType().getRawClass();
        Set<String> names = new HashSet<>();
        for (Class<?> level = value;
                level != null && level != declared && !StateOfBean.isForeign(level);
                level = level.getSuperclass()) {
            Stream.of(level.getDeclaredFields())
                    .filter(DeclaredType::holdsState)
                    .forEach(field -> names.addAll(JavaNames.ofField(field.getName())));
        }
        return names;
    }

    private static boolean holdsState(Field field) {
        return !field.isSynthetic()
                && !Modifier.isStatic(field.getModifiers())
                && !Modifier.isTransient(field.getModifiers())
                && !field.getName().contains("$");
    }

    private static boolean isOneOf(Set<String> fields, PropertyWriter property) {
        return fields.contains(JavaNames.lower(property.getName()))
                || (property.getMember() != null && !Collections.disjoint(fields, JavaNames.of(property.getMember())));
    }

    private String describe(Class<?> value, BeanPropertyWriter property, Set<String> cut) {
        Class<?> declared = property.getType().getRawClass();
        return "a " + value.getName() + " would arrive as a "
                + reader.getValueType().getRawClass().getName() + ", without its " + String.join(", ", cut)
                + ". Declare the property as " + value.getSimpleName() + ", or "
                + (StateOfBean.isForeign(declared)
                        ? "send a class of your own with what the receiver needs"
                        : "annotate " + declared.getSimpleName() + " with @JsonTypeInfo");
    }
}
