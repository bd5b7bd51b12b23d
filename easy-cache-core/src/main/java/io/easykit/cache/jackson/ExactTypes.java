package io.easykit.cache.jackson;

import java.sql.Timestamp;
import java.time.Instant;
import java.util.Date;
import java.util.function.LongFunction;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.deser.std.StdDeserializer;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.std.StdSerializer;

/** The dates of {@code java.sql}, of which Jackson's own forms lose a part: nanoseconds, or the time of the day. */
@SuppressWarnings("JavaUtilDate") // it is what entities have
final class ExactTypes {

    private ExactTypes() {}

    static void addTo(SimpleModule module) {
        add(module, java.sql.Date.class, java.sql.Date::new);
        add(module, java.sql.Time.class, java.sql.Time::new);
        module.addSerializer(Timestamp.class, new StdSerializer<Timestamp>(Timestamp.class) {
            @Override
            public void serialize(Timestamp value, JsonGenerator generator, SerializationContext context) {
                generator.writeString(value.toInstant().toString());
            }
        });
        module.addDeserializer(Timestamp.class, new StdDeserializer<Timestamp>(Timestamp.class) {
            @Override
            public Timestamp deserialize(JsonParser parser, DeserializationContext context) {
                return Timestamp.from(Instant.parse(parser.getValueAsString()));
            }
        });
    }

    private static <T extends Date> void add(SimpleModule module, Class<T> type, LongFunction<T> factory) {
        module.addSerializer(type, new StdSerializer<T>(type) {
            @Override
            public void serialize(T value, JsonGenerator generator, SerializationContext context) {
                generator.writeNumber(value.getTime());
            }
        });
        module.addDeserializer(type, new StdDeserializer<T>(type) {
            @Override
            public T deserialize(JsonParser parser, DeserializationContext context) {
                return factory.apply(parser.getLongValue());
            }
        });
    }
}
