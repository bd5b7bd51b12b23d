package io.easykit.delayqueue.jackson;

import tools.jackson.core.io.SerializedString;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.ser.BeanPropertyWriter;
import tools.jackson.databind.ser.bean.UnwrappingBeanPropertyWriter;
import tools.jackson.databind.ser.impl.PropertySerializerMap;
import tools.jackson.databind.util.NameTransformer;

/** As {@link DeclaredProperty}, for a property with {@code @JsonUnwrapped}. */
final class UnwrappedProperty extends UnwrappingBeanPropertyWriter {

    private static final long serialVersionUID = 1L;

    private final transient DeclaredType declared;

    UnwrappedProperty(BeanPropertyWriter property, NameTransformer names, DeclaredType declared) {
        super(property, names);
        this.declared = declared;
    }

    private UnwrappedProperty(UnwrappedProperty property, NameTransformer names, SerializedString name) {
        super(property, names, name);
        this.declared = property.declared;
    }

    @Override
    protected UnwrappingBeanPropertyWriter _new(NameTransformer names, SerializedString name) {
        return new UnwrappedProperty(this, names, name);
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
