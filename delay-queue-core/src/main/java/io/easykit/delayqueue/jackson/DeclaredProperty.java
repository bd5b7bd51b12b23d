package io.easykit.delayqueue.jackson;

import java.lang.reflect.Modifier;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.PropertyName;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.deser.bean.BeanDeserializerBase;
import tools.jackson.databind.ser.BeanPropertyWriter;
import tools.jackson.databind.ser.impl.PropertySerializerMap;

/**
 * A property of a class that is read as exactly this class. A value of a subclass with fields of its own is refused, because its
 * receiver would get an object without them. Jackson looks up the serializer of each subclass once, so values of the declared class
 * cost nothing.
 */
final class DeclaredProperty extends BeanPropertyWriter {

    private static final long serialVersionUID = 1L;

    private final transient BeanDeserializerBase reader;

    DeclaredProperty(BeanPropertyWriter property, BeanDeserializerBase reader) {
        super(property);
        this.reader = reader;
    }

    private DeclaredProperty(DeclaredProperty property, PropertyName name) {
        super(property, name);
        this.reader = property.reader;
    }

    /** Returns true if Jackson chooses the serializer by the class of each value, and writes no type id. */
    static boolean isChosenByValue(BeanPropertyWriter property) {
        JavaType type = property.getType();
        return property.getClass() == BeanPropertyWriter.class
                && property.getTypeSerializer() == null
                && !property.hasSerializer()
                && type.isConcrete()
                && !type.isFinal()
                && !type.isContainerType()
                && !StateOfBean.isForeign(type.getRawClass());
    }

    @Override
    protected BeanPropertyWriter _new(PropertyName name) {
        return new DeclaredProperty(this, name);
    }

    @Override
    protected ValueSerializer<Object> _findAndAddDynamic(
            PropertySerializerMap known, Class<?> type, SerializationContext context) {
        String loss = addsFields(type) ? findLoss(type, context) : null;
        if (loss == null) {
            return super._findAndAddDynamic(known, type, context);
        }
        ValueSerializer<Object> refusal = new Refusal(getType(), loss);
        _dynamicSerializers = known.newWith(type, refusal);
        return refusal;
    }

    private boolean addsFields(Class<?> type) {
        Class<?> declared = getType().getRawClass();
        return Stream.<Class<?>>iterate(type, level -> level != null && level != declared, Class::getSuperclass)
                .flatMap(level -> Stream.of(level.getDeclaredFields()))
                .anyMatch(field -> !field.isSynthetic()
                        && !Modifier.isStatic(field.getModifiers())
                        && !Modifier.isTransient(field.getModifiers())
                        && !field.getName().contains("$"));
    }

    private @Nullable String findLoss(Class<?> type, SerializationContext context) {
        ValueSerializer<?> writer = context.findPrimaryPropertySerializer(type, this);
        Set<String> cut = names(writer);
        cut.removeAll(names(context.findPrimaryPropertySerializer(getType(), this)));
        cut.removeIf(reader::hasProperty);
        if (!LossCheck.isOrdinary(writer) || cut.isEmpty()) {
            return null;
        }
        Class<?> declared = getType().getRawClass();
        return "a " + type.getName() + " would arrive as a " + declared.getName() + ", without its "
                + String.join(", ", cut) + ". Declare the property as " + type.getSimpleName() + ", or annotate "
                + declared.getSimpleName() + " with @JsonTypeInfo";
    }

    private static Set<String> names(ValueSerializer<?> serializer) {
        Set<String> names = new TreeSet<>();
        serializer.properties().forEachRemaining(property -> names.add(property.getName()));
        return names;
    }
}
