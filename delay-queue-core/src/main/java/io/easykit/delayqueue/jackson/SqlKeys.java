package io.easykit.delayqueue.jackson;

import java.sql.Date;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.LongFunction;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.KeyDeserializer;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.module.SimpleModule;

/** The dates of {@code java.sql} as keys of maps. They have the texts of {@link SqlTexts}, or else those of instants. */
@SuppressWarnings("JavaUtilDate") // it is what payloads have
final class SqlKeys {

    private SqlKeys() {}

    static SimpleModule addTo(SimpleModule module) {
        return module.addKeySerializer(Date.class, new Writer())
                .addKeySerializer(Time.class, new Writer())
                .addKeySerializer(Timestamp.class, new Writer())
                .addKeyDeserializer(Date.class, new Reader(Date.class, SqlTexts::date, Date::new))
                .addKeyDeserializer(Time.class, new Reader(Time.class, SqlTexts::time, Time::new))
                .addKeyDeserializer(
                        Timestamp.class,
                        new Reader(Timestamp.class, text -> Timestamp.from(Instant.parse(text)), Timestamp::new));
    }

    private static final class Writer extends ValueSerializer<java.util.Date> {

        @Override
        public void serialize(java.util.Date key, JsonGenerator generator, SerializationContext context) {
            generator.writeName(Objects.requireNonNullElseGet(
                    SqlTexts.find(key), () -> instant(key).toString()));
        }

        /** A date and a time have no instant of their own. */
        private static Instant instant(java.util.Date key) {
            return key instanceof Timestamp timestamp ? timestamp.toInstant() : Instant.ofEpochMilli(key.getTime());
        }
    }

    private static final class Reader extends KeyDeserializer {

        private final Class<?> type;
        private final Function<String, java.util.Date> reader;
        private final LongFunction<java.util.Date> millis;

        Reader(Class<?> type, Function<String, java.util.Date> reader, LongFunction<java.util.Date> millis) {
            this.type = type;
            this.reader = reader;
            this.millis = millis;
        }

        @Override
        public Object deserializeKey(String key, DeserializationContext context) {
            try {
                return reader.apply(key);
            } catch (DateTimeException other) {
                return readInstant(key, context);
            }
        }

        private Object readInstant(String key, DeserializationContext context) {
            try {
                return millis.apply(context.parseDate(key).getTime());
            } catch (IllegalArgumentException none) {
                return context.handleWeirdKey(type, key, "it is neither a date nor an instant");
            }
        }
    }
}
