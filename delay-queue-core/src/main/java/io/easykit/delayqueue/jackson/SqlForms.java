package io.easykit.delayqueue.jackson;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.sql.Date;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.BeanProperty;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.SerializationConfig;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.deser.ValueDeserializerModifier;
import tools.jackson.databind.deser.std.DelegatingDeserializer;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.ValueSerializerModifier;
import tools.jackson.databind.ser.std.StdScalarSerializer;

/**
 * The dates of {@code java.sql}, of which Jackson's own forms lose a part: nanoseconds, milliseconds, or on a node of another time
 * zone the local date. A property with a {@code @JsonFormat} keeps that format. Jackson's own forms are still read.
 */
@SuppressWarnings("JavaUtilDate") // it is what payloads have
final class SqlForms {

    private static final Map<Class<?>, Form> FORMS = Map.of(
            Date.class, new Form(SqlTexts::find, SqlTexts::date, Date::new),
            Time.class, new Form(SqlTexts::find, SqlTexts::time, Time::new),
            Timestamp.class,
                    new Form(
                            value -> value.toInstant().toString(),
                            text -> Timestamp.from(Instant.parse(text)),
                            Timestamp::new));

    private SqlForms() {}

    static SimpleModule module() {
        return SqlKeys.addTo(new SimpleModule("delay-queue-sql"))
                .setSerializerModifier(new Writers())
                .setDeserializerModifier(new Readers());
    }

    private static boolean hasFormat(MapperConfig<?> config, @Nullable BeanProperty property, Class<?> type) {
        JsonFormat.Value format =
                property == null ? config.getDefaultPropertyFormat(type) : property.findPropertyFormat(config, type);
        return !format.equals(JsonFormat.Value.empty());
    }

    /**
     * How values of one class are written.
     *
     * @param text   null for a value that is written as milliseconds
     * @param reader fails with a {@link DateTimeException} for a text of another form
     * @param millis reads milliseconds
     */
    private record Form(
            Function<java.util.Date, @Nullable String> text,
            Function<String, Object> reader,
            LongFunction<Object> millis) {}

    private static final class Writers extends ValueSerializerModifier {

        private static final long serialVersionUID = 1L;

        @Override
        public ValueSerializer<?> modifySerializer(
                SerializationConfig config, BeanDescription.Supplier type, ValueSerializer<?> serializer) {
            Form form = FORMS.get(type.getBeanClass());
            return form == null ? serializer : new Writer(form, serializer);
        }
    }

    private static final class Readers extends ValueDeserializerModifier {

        private static final long serialVersionUID = 1L;

        @Override
        public ValueDeserializer<?> modifyDeserializer(
                DeserializationConfig config, BeanDescription.Supplier type, ValueDeserializer<?> deserializer) {
            Form form = FORMS.get(type.getBeanClass());
            return form == null ? deserializer : new Reader(form, deserializer);
        }
    }

    private static final class Writer extends StdScalarSerializer<java.util.Date> {

        private final Form form;
        private final ValueSerializer<?> plain;

        Writer(Form form, ValueSerializer<?> plain) {
            super(plain.handledType(), false);
            this.form = form;
            this.plain = plain;
        }

        @Override
        public void serialize(java.util.Date value, JsonGenerator generator, SerializationContext context) {
            String text = form.text.apply(value);
            if (text == null) {
                generator.writeNumber(value.getTime());
            } else {
                generator.writeString(text);
            }
        }

        @Override
        public ValueSerializer<?> createContextual(SerializationContext context, @Nullable BeanProperty property) {
            boolean isPlain = hasFormat(context.getConfig(), property, handledType())
                    || (property != null && isInstant(property.getType()));
            return isPlain ? plain.createContextual(context, property) : this;
        }

        /** A property of {@code java.util.Date}, or of several: it is read as an instant. */
        private static boolean isInstant(JavaType declared) {
            return declared.hasRawClass(java.util.Date.class)
                    || (declared.getContentType() != null && isInstant(declared.getContentType()));
        }
    }

    private static final class Reader extends DelegatingDeserializer {

        private final Form form;

        Reader(Form form, ValueDeserializer<?> plain) {
            super(plain);
            this.form = form;
        }

        @Override
        protected ValueDeserializer<?> newDelegatingInstance(ValueDeserializer<?> plain) {
            return new Reader(form, plain);
        }

        @Override
        public ValueDeserializer<?> createContextual(DeserializationContext context, @Nullable BeanProperty property) {
            return hasFormat(context.getConfig(), property, handledType())
                    ? _delegatee.createContextual(context, property)
                    : super.createContextual(context, property);
        }

        @Override
        public @Nullable Object deserialize(JsonParser parser, DeserializationContext context) {
            if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT) {
                return form.millis.apply(parser.getLongValue());
            }
            if (parser.currentToken() == JsonToken.VALUE_STRING) {
                try {
                    return form.reader.apply(parser.getString());
                } catch (DateTimeException other) {
                    // Jackson's own form, or none.
                }
            }
            return super.deserialize(parser, context);
        }
    }
}
