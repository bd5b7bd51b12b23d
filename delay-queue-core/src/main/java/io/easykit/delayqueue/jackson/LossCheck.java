package io.easykit.delayqueue.jackson;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.ArrayList;
import java.util.Calendar;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.BeanProperty;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.SerializationConfig;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.annotation.JsonDeserialize;
import tools.jackson.databind.cfg.SerializationContexts;
import tools.jackson.databind.deser.ValueInstantiator;
import tools.jackson.databind.deser.bean.BeanDeserializerBase;
import tools.jackson.databind.deser.bean.BuilderBasedDeserializer;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.BeanPropertyWriter;
import tools.jackson.databind.ser.BeanSerializer;
import tools.jackson.databind.ser.UnrolledBeanSerializer;
import tools.jackson.databind.ser.ValueSerializerModifier;
import tools.jackson.databind.ser.bean.UnwrappingBeanPropertyWriter;
import tools.jackson.databind.ser.jdk.JDKKeySerializers;
import tools.jackson.databind.util.NameTransformer;

/**
 * Refuses a class whose JSON would lack a part of its state. Jackson makes the serializer of a class once, so the check runs once for
 * each class, whatever the values, and costs nothing later.
 *
 * <p>Only beans that Jackson writes and reads by their properties are checked. A class that Jackson cannot read is not: its
 * receivers have another type.
 */
final class LossCheck extends ValueSerializerModifier {

    private static final long serialVersionUID = 1L;

    private final transient JsonMapper readers;

    private LossCheck(JsonMapper readers) {
        this.readers = readers;
    }

    /**
     * Returns a mapper like this one with the check. Its own serializers, which other users may share, stay as they are. The module that
     * is added first modifies serializers last, so the check is made on those that are used.
     */
    static JsonMapper in(JsonMapper mapper) {
        if (mapper.getClass() != JsonMapper.class) {
            return mapper;
        }
        JsonMapper.Builder checked = mapper.rebuild();
        if (checked.serializationContexts().getClass() == SerializationContexts.DefaultImpl.class) {
            checked.serializationContexts(new CompleteSerializers());
        }
        return checked.removeAllModules()
                .addModule(new SimpleModule("delay-queue-loss").setSerializerModifier(new LossCheck(mapper)))
                .addModules(mapper.registeredModules())
                .build();
    }

    @Override
    public List<BeanPropertyWriter> changeProperties(
            SerializationConfig config, BeanDescription.Supplier type, List<BeanPropertyWriter> properties) {
        List<BeanPropertyWriter> changed = new ArrayList<>(properties);
        changed.replaceAll(property -> changed(config, property));
        return changed;
    }

    private BeanPropertyWriter changed(SerializationConfig config, BeanPropertyWriter property) {
        return DeclaredType.isChosenByValue(property) && !isReadInItsOwnWay(property)
                ? findReader(property.getType())
                        .filter(reader -> !reader.hasAnySetter() && !(reader instanceof BuilderBasedDeserializer))
                        .map(reader -> declared(config, property, new DeclaredType(reader)))
                        .orElse(property)
                : property;
    }

    /** A property of any other class is one of a module. */
    private static BeanPropertyWriter declared(
            SerializationConfig config, BeanPropertyWriter property, DeclaredType declared) {
        if (property.getClass() == BeanPropertyWriter.class) {
            return new DeclaredProperty(property, declared);
        }
        NameTransformer names = property.getClass() == UnwrappingBeanPropertyWriter.class
                ? config.getAnnotationIntrospector().findUnwrappingNameTransformer(config, property.getMember())
                : null;
        return names == null ? property : new UnwrappedProperty(property, names, declared);
    }

    @Override
    public ValueSerializer<?> modifySerializer(
            SerializationConfig config, BeanDescription.Supplier type, ValueSerializer<?> serializer) {
        if (isOrdinary(serializer) && !StateOfBean.isForeign(type.getBeanClass())) {
            return findReader(type.getType())
                    .map(reader -> new StateOfBean(config, type.get(), reader).findLoss())
                    .<ValueSerializer<?>>map(loss -> new Refusal(type.getType(), loss))
                    .orElse(serializer);
        }
        return serializer;
    }

    @Override
    public ValueSerializer<?> modifyKeySerializer(
            SerializationConfig config, JavaType type, BeanDescription.Supplier key, ValueSerializer<?> serializer) {
        return serializer.getClass() == JDKKeySerializers.Default.class && isOfApplication(type)
                ? new TextKey(type, readers, serializer)
                : serializer;
    }

    /** Whether a property is not read, or in another way than others of its type. */
    static boolean isReadInItsOwnWay(BeanProperty property) {
        JsonProperty json = property.getAnnotation(JsonProperty.class);
        return property.getAnnotation(JsonDeserialize.class) != null
                || (json != null && json.access() == JsonProperty.Access.READ_ONLY);
    }

    /** Dates and arrays of bytes have a text of their own. */
    private static boolean isOfApplication(JavaType key) {
        return !key.isArrayType()
                && !key.isTypeOrSubTypeOf(Date.class)
                && !key.isTypeOrSubTypeOf(Calendar.class)
                && !StateOfBean.isForeign(key.getRawClass());
    }

    static boolean isOrdinary(ValueSerializer<?> serializer) {
        return serializer.getClass() == BeanSerializer.class || serializer.getClass() == UnrolledBeanSerializer.class;
    }

    private Optional<BeanDeserializerBase> findReader(JavaType type) {
        try {
            ValueDeserializer<?> reader = readers._deserializationContext().findNonContextualValueDeserializer(type);
            return reader instanceof BeanDeserializerBase bean && readsProperties(bean.getValueInstantiator())
                    ? Optional.of(bean)
                    : Optional.empty();
        } catch (JacksonException | IllegalArgumentException | LinkageError unreadable) {
            return Optional.empty();
        }
    }

    private static boolean readsProperties(ValueInstantiator creator) {
        return (creator.canCreateUsingDefault() || creator.canCreateFromObjectWith())
                && !creator.canCreateUsingDelegate()
                && !creator.canCreateUsingArrayDelegate();
    }
}
