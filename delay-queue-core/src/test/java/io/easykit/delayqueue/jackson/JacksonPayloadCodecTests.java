package io.easykit.delayqueue.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.Bytes;
import io.easykit.delayqueue.UndecodableMessageException;
import java.lang.reflect.Type;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JacksonPayloadCodecTests {

    private final JacksonPayloadCodec codec = new JacksonPayloadCodec();

    record CloseOrder(long id, @Nullable Instant since) {}

    @SuppressWarnings("unused")
    private static void listener(Map<String, List<CloseOrder>> orders) {}

    private static Bytes json(String text) {
        return Bytes.of(text.getBytes(UTF_8));
    }

    @Test
    void readsWhatItWroteByTheTypeOfTheSignature() throws NoSuchMethodException {
        Type type = getClass().getDeclaredMethod("listener", Map.class).getGenericParameterTypes()[0];
        Object payload = Map.of("eu", List.of(new CloseOrder(7, Instant.ofEpochSecond(9))));

        assertThat(codec.decode(codec.encode(payload), type)).isEqualTo(payload);
    }

    @Test
    void toleratesPropertiesOfANewerSender() {
        assertThat(codec.decode(json("{\"id\":1,\"since\":null,\"more\":2}"), CloseOrder.class))
                .isEqualTo(new CloseOrder(1, null));
    }

    @Test
    void namesNoClassesInThePayload() {
        assertThat(new String(codec.encode(new CloseOrder(1, Instant.EPOCH)).array(), UTF_8))
                .doesNotContain("CloseOrder");
    }

    @Test
    void refusesWhatIsNoSuchPayload() {
        assertThatThrownBy(() -> codec.decode(json("[1]"), CloseOrder.class))
                .isInstanceOf(UndecodableMessageException.class)
                .hasMessageContaining("CloseOrder");
        assertThatThrownBy(() -> codec.decode(json("null"), CloseOrder.class))
                .isInstanceOf(UndecodableMessageException.class)
                .hasMessageContaining("null");
    }

    @Test
    void refusesToSendWhatCannotBeWritten() {
        List<Object> endless = new ArrayList<>();
        endless.add(endless);

        assertThatThrownBy(() -> codec.encode(endless))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot be written as JSON");
    }
}
