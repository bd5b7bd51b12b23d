package io.easykit.delayqueue.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.annotation.JsonSerialize;
import tools.jackson.databind.util.StdConverter;

/** A class that is refused, as a part of another one. */
class RefusalTests {

    private final JacksonPayloadCodec codec = new JacksonPayloadCodec();

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

    static final class Encryption extends StdConverter<String, String> {

        @Override
        public String convert(String text) {
            return "secret of " + text.length();
        }
    }

    record Payment(
            @JsonProperty(index = 1) @Nullable Urgent urgent,
            @JsonProperty(index = 2) @JsonSerialize(converter = Encryption.class) String card) {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
    @JsonSubTypes(@JsonSubTypes.Type(value = Square.class, name = "square"))
    interface Shape {}

    record Square(int side) implements Shape {}

    record Drawing(@JsonProperty(index = 1) @Nullable Urgent urgent, @JsonProperty(index = 2) List<Shape> shapes) {}

    record Outer(@JsonUnwrapped Urgent urgent, int number) {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
    @JsonSubTypes(@JsonSubTypes.Type(value = Lossy.class, name = "lossy"))
    interface Event {}

    static final class Lossy implements Event {

        private int amount;

        public void setAmount(int amount) {
            this.amount = amount + this.amount;
        }
    }

    record Events(List<Event> events) {}

    private String json(Object payload) {
        return new String(codec.encode(payload).array(), UTF_8);
    }

    /** Jackson keeps the serializer of a class even if it could not complete it. */
    @Test
    void changesNothingOfTheClassThatContainsIt() {
        for (int i = 0; i < 3; i++) {
            assertThat(json(new Payment(null, "4111"))).isEqualTo("{\"urgent\":null,\"card\":\"secret of 4\"}");
            assertThat(json(new Drawing(null, List.of(new Square(1)))))
                    .isEqualTo("{\"urgent\":null,\"shapes\":[{\"@type\":\"square\",\"side\":1}]}");
        }
    }

    @Test
    void isRefusedAtEachSendOfAValue() {
        Urgent urgent = new Urgent("1", true);

        for (int i = 0; i < 3; i++) {
            for (Object payload : List.of(urgent, new Payment(urgent, "4111"), new Outer(urgent, 1))) {
                assertThatThrownBy(() -> codec.encode(payload)).hasMessageContaining("\"isUrgent\"");
            }
            assertThatThrownBy(() -> codec.encode(new Events(List.of(new Lossy()))))
                    .hasMessageContaining("events[0]")
                    .hasMessageContaining("\"amount\"");
        }
    }

    /** Jackson refuses it by itself. */
    static final class Ambiguous {

        @JsonProperty("number")
        public int first() {
            return 1;
        }

        @JsonProperty("number")
        public int second() {
            return 2;
        }
    }

    record Bill(
            @JsonProperty(index = 1) @Nullable Ambiguous ambiguous,
            @JsonProperty(index = 2) @JsonSerialize(converter = Encryption.class) String card) {}

    @Test
    void isRefusedAtEachSendIfJacksonRefusesIt() {
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> codec.encode(new Bill(null, "4111"))).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
