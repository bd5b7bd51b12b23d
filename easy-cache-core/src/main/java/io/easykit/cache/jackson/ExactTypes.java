package io.easykit.cache.jackson;

import io.easykit.cache.type.SqlTexts;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.Date;
import java.util.function.Function;
import java.util.function.LongFunction;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.deser.std.StdDeserializer;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.std.StdSerializer;

/**
 * The dates of {@code java.sql}, of which Jackson's own forms lose a part: nanoseconds, or the time of the day. A date and a time are
 * local, so nodes of other time zones read the same date and time. One that holds more is an instant, in milliseconds.
 */
@SuppressWarnings("JavaUtilDate") // it is what entities have
final class ExactTypes {

    private ExactTypes() {}

    static void addTo(SimpleModule module) {
        add(module, java.sql.Date.class, SqlTexts::date, java.sql.Date::new);
        add(module, java.sql.Time.class, SqlTexts::time, java.sql.Time::new);
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

    private static <T extends Date> void add(
            SimpleModule module, Class<T> type, Function<String, T> local, LongFunction<T> instant) {
        module.addSerializer(type, new StdSerializer<T>(type) {
            @Override
            public void serialize(T value, JsonGenerator generator, SerializationContext context) {
                String text = SqlTexts.find(value);
                if (text == null) {
                    generator.writeNumber(value.getTime());
                } else {
                    generator.writeString(text);
                }
            }
        });
        module.addDeserializer(type, new StdDeserializer<T>(type) {
            @Override
            public T deserialize(JsonParser parser, DeserializationContext context) {
                return parser.currentToken() == JsonToken.VALUE_STRING
                        ? local.apply(parser.getString())
                        : instant.apply(parser.getLongValue());
            }
        });
    }
}
