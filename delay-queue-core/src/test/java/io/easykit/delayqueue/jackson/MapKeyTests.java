package io.easykit.delayqueue.jackson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonKey;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.KeyDeserializer;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.annotation.JsonDeserialize;
import tools.jackson.databind.module.SimpleModule;

/** Keys of maps that are objects of the application. */
@SuppressWarnings("JavaUtilDate") // it is what payloads have
class MapKeyTests {

    private final JacksonPayloadCodec codec = new JacksonPayloadCodec();

    record Id(String id) {}

    record Pair(String first, int second) {}

    record Text(String text) {

        @Override
        public String toString() {
            return text;
        }
    }

    record Valued(@JsonValue String text) {}

    record Keyed(@JsonKey String text) {}

    enum Kind {
        SMALL
    }

    record Ids(@JsonProperty(index = 1) Map<Id, Integer> ids) {}

    record Pairs(Map<Pair, Integer> pairs) {}

    static List<Object> lossy() {
        return List.of(
                new Ids(Map.of(new Id("a"), 1)),
                new Pairs(Map.of(new Pair("a", 1), 1)),
                Map.of(new Id("a"), 1),
                Map.of("a", Map.of(new Pair("a", 1), 1)));
    }

    @ParameterizedTest
    @MethodSource("lossy")
    void areRefusedIfTheirTextIsNotTheirs(Object payload) {
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> codec.encode(payload))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("toString()")
                    .hasMessageContaining("@JsonKey")
                    .hasMessageNotContaining("id=a")
                    .hasMessageNotContaining("first=a");
        }
    }

    record Complete(
            Map<Text, Integer> texts,
            Map<Valued, Integer> valued,
            Map<Keyed, Integer> keyed,
            Map<Kind, Integer> kinds,
            Map<UUID, Integer> uuids,
            Map<Date, Integer> dates,
            Map<Id, Integer> none) {}

    @Test
    void areTakenIfTheyCanBeReadFromTheirText() {
        Complete sent = new Complete(
                Map.of(new Text("a"), 1),
                Map.of(new Valued("a"), 1),
                Map.of(new Keyed("a"), 1),
                Map.of(Kind.SMALL, 1),
                Map.of(new UUID(1, 2), 1),
                Map.of(new Date(5), 1),
                Map.of());

        assertThat(codec.decode(codec.encode(sent), Complete.class)).isEqualTo(sent);
        assertThatCode(() -> codec.encode(Map.of(new Text("a"), 1, Kind.SMALL, 2)))
                .doesNotThrowAnyException();
    }

    static final class PairReader extends KeyDeserializer {

        @Override
        public Object deserializeKey(String key, DeserializationContext context) {
            return new Pair(key, 1);
        }
    }

    record ReadByAnnotation(@JsonDeserialize(keyUsing = PairReader.class) Map<Pair, Integer> pairs) {}

    record NotRead(@JsonProperty(access = JsonProperty.Access.READ_ONLY) Map<Pair, Integer> pairs) {}

    @Test
    void areTakenIfThePropertySaysHowTheyAreRead() {
        Map<Pair, Integer> pairs = Map.of(new Pair("a", 1), 1);
        assertThatCode(() -> codec.encode(new ReadByAnnotation(pairs))).doesNotThrowAnyException();
        assertThatCode(() -> codec.encode(new NotRead(pairs))).doesNotThrowAnyException();
    }

    interface Code {}

    enum Size implements Code {
        LARGE
    }

    /** Its receivers have another type. */
    @Test
    void areTakenIfNoReaderOfTheirTypeExists() {
        record Codes(Map<Code, Integer> codes) {}
        assertThatCode(() -> codec.encode(new Codes(Map.of(Size.LARGE, 1)))).doesNotThrowAnyException();
    }

    @Test
    void areTakenWithASerializerOfTheirOwn() {
        SimpleModule module = new SimpleModule()
                .addKeySerializer(Id.class, new ValueSerializer<>() {
                    @Override
                    public void serialize(Id id, JsonGenerator generator, SerializationContext context) {
                        generator.writeName(id.id());
                    }
                })
                .addKeyDeserializer(Id.class, new KeyDeserializer() {
                    @Override
                    public Object deserializeKey(String key, DeserializationContext context) {
                        return new Id(key);
                    }
                });
        JacksonPayloadCodec own = new JacksonPayloadCodec(
                JacksonPayloadCodec.defaults().addModule(module).build());
        Ids sent = new Ids(Map.of(new Id("a"), 1));

        assertThat(own.decode(own.encode(sent), Ids.class)).isEqualTo(sent);
    }
}
