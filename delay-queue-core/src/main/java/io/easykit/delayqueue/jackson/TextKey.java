package io.easykit.delayqueue.jackson;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.BeanProperty;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.KeyDeserializer;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.ser.std.StdSerializer;

/**
 * Writes keys of maps as their {@code toString()}, as Jackson does with classes without a serializer for keys. A key that its receiver would
 * not read as an equal one is refused: of a record, that text becomes its only component.
 */
final class TextKey extends StdSerializer<Object> {

    private final JavaType type;
    private final transient JsonMapper readers;
    private final transient @Nullable KeyDeserializer reader;
    private final transient ValueSerializer<?> given;

    /** @param given the serializer of Jackson, for properties that are read by their own annotations */
    TextKey(JavaType type, JsonMapper readers, ValueSerializer<?> given) {
        super(type);
        this.given = given;
        this.type = type;
        this.readers = readers;
        this.reader = findReader(type, readers._deserializationContext());
    }

    private static @Nullable KeyDeserializer findReader(JavaType type, DeserializationContext context) {
        try {
            return context.findKeyDeserializer(type, null);
        } catch (RuntimeException | LinkageError unreadable) {
            return null;
        }
    }

    @Override
    public ValueSerializer<?> createContextual(SerializationContext context, @Nullable BeanProperty property) {
        return property != null && LossCheck.isReadInItsOwnWay(property) ? given : this;
    }

    @Override
    public void serialize(Object key, JsonGenerator generator, SerializationContext context) {
        String text = key.toString();
        // Without a reader its receivers have another type, such as a text. That of a record is generated, and of no
        // use to them.
        if (reader == null ? key instanceof Record : !key.equals(read(text))) {
            throw InvalidDefinitionException.from(
                    generator,
                    "a key of a map would be written as its toString(), and not be read as an equal "
                            + type.getRawClass().getName()
                            + ". Annotate what has its text with @JsonKey or @JsonValue, or give the mapper a key serializer",
                    type);
        }
        generator.writeName(text);
    }

    private @Nullable Object read(@Nullable String text) {
        try {
            return reader == null || text == null
                    ? null
                    : reader.deserializeKey(text, readers._deserializationContext());
        } catch (RuntimeException | LinkageError other) {
            return null;
        }
    }
}
