package io.easykit.delayqueue.jackson;

import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.jsontype.TypeSerializer;
import tools.jackson.databind.ser.std.StdSerializer;

/**
 * Refuses each value of a type. Nothing is thrown while Jackson makes serializers: it would keep those of the enclosing classes half
 * made, and later payloads of them would lack converters and type ids.
 */
final class Refusal extends StdSerializer<Object> {

    private final JavaType type;
    private final String problem;

    Refusal(JavaType type, String problem) {
        super(type);
        this.type = type;
        this.problem = problem;
    }

    @Override
    public void serialize(Object value, JsonGenerator generator, SerializationContext context) {
        throw InvalidDefinitionException.from(generator, problem, type);
    }

    @Override
    public void serializeWithType(
            Object value, JsonGenerator generator, SerializationContext context, TypeSerializer typeId) {
        serialize(value, generator, context);
    }
}
