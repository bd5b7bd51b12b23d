package io.easykit.delayqueue.jackson;

import tools.jackson.databind.PropertyName;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.ser.BeanPropertyWriter;
import tools.jackson.databind.ser.impl.PropertySerializerMap;

/**
 * A property that refuses values of which its {@link DeclaredType} would drop fields. Jackson looks up the serializer of each class
 * of values once, so later values cost nothing.
 */
final class DeclaredProperty extends BeanPropertyWriter {

    private static final long serialVersionUID = 1L;

    private final transient DeclaredType declared;

    DeclaredProperty(BeanPropertyWriter property, DeclaredType declared) {
        super(property);
        this.declared = declared;
    }

    private DeclaredProperty(DeclaredProperty property, PropertyName name) {
        super(property, name);
        this.declared = property.declared;
    }

    @Override
    protected BeanPropertyWriter _new(PropertyName name) {
        return new DeclaredProperty(this, name);
    }

    @Override
    protected ValueSerializer<Object> _findAndAddDynamic(
            PropertySerializerMap known, Class<?> type, SerializationContext context) {
        ValueSerializer<Object> refusal = declared.refusalOf(type, this, context);
        if (refusal == null) {
            return super._findAndAddDynamic(known, type, context);
        }
        _dynamicSerializers = known.newWith(type, refusal);
        return refusal;
    }
}
