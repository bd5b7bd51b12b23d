package io.easykit.delayqueue.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.SerializationConfig;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.BeanPropertyWriter;
import tools.jackson.databind.ser.ValueSerializerModifier;
import tools.jackson.databind.ser.bean.BeanSerializerBase;

/** A mapper of the application whose modules replace serializers and properties. */
class OwnModulesTests {

    record Order(String id, @Nullable Pay pay, String internal) {}

    static class Pay {

        public int amount;
    }

    static final class Urgent {

        private final String id;
        private final boolean isUrgent;

        public Urgent(String id, boolean isUrgent) {
            this.id = id;
            this.isUrgent = isUrgent;
        }

        public String getId() {
            return id;
        }

        public boolean isUrgent() {
            return isUrgent;
        }
    }

    private static JacksonPayloadCodec with(ValueSerializerModifier modifier) {
        return new JacksonPayloadCodec(JacksonPayloadCodec.defaults()
                .addModule(new SimpleModule("own").setSerializerModifier(modifier))
                .build());
    }

    private static final class Complete extends ValueSerializerModifier {

        private static final long serialVersionUID = 1L;

        @Override
        public ValueSerializer<?> modifySerializer(
                SerializationConfig config, BeanDescription.Supplier type, ValueSerializer<?> serializer) {
            return type.getBeanClass() == Urgent.class && serializer instanceof BeanSerializerBase
                    ? new ValueSerializer<Urgent>() {
                        @Override
                        public void serialize(Urgent value, JsonGenerator generator, SerializationContext context) {
                            generator.writeStartObject();
                            generator.writeStringProperty("id", value.getId());
                            generator.writeBooleanProperty("isUrgent", value.isUrgent());
                            generator.writeEndObject();
                        }
                    }
                    : serializer;
        }
    }

    private static final class WithoutInternal extends ValueSerializerModifier {

        private static final long serialVersionUID = 1L;

        @Override
        public List<BeanPropertyWriter> changeProperties(
                SerializationConfig config, BeanDescription.Supplier type, List<BeanPropertyWriter> properties) {
            return properties.stream()
                    .filter(property -> !property.getName().equals("internal"))
                    .toList();
        }
    }

    @Test
    void mayWriteACompleteJson() {
        assertThatCode(() -> with(new Complete()).encode(new Urgent("1", true))).doesNotThrowAnyException();
    }

    @Test
    void mayReturnPropertiesInAListThatCannotBeChanged() {
        assertThat(new String(
                        with(new WithoutInternal())
                                .encode(new Order("1", null, "a"))
                                .array(),
                        UTF_8))
                .isEqualTo("{\"id\":\"1\",\"pay\":null}");
    }
}
