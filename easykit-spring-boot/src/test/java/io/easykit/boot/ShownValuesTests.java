package io.easykit.boot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ShownValuesTests {

    private final ShownValues values = new ShownValues(null);

    @Test
    void showsTextThatIsNotJsonAsItIs() {
        byte[] body = "<script>alert(1)</script>".getBytes(UTF_8);

        assertThat(values.body(body, body.length))
                .containsEntry("kind", "text")
                .containsEntry("text", "<script>alert(1)</script>")
                .containsEntry("cut", false);
    }

    @Test
    void showsOtherBytesAsHex() {
        byte[] body = {0, (byte) 0xff, 16};

        assertThat(values.body(body, 3)).containsEntry("kind", "binary").containsEntry("text", "00 ff 10");
        assertThat(values.preview(body)).isEqualTo("00 ff 10");
    }

    @Test
    void leavesOutACharacterThatIsCut() {
        byte[] whole = "{\"a\":\"😀😀\"}".getBytes(UTF_8);
        byte[] cut = Arrays.copyOf(whole, 12);

        assertThat(values.body(cut, whole.length)).containsEntry("kind", "json").containsEntry("cut", true);
        assertThat(values.preview(cut)).isEqualTo("{\"a\": \"😀");
    }

    @Test
    void cutsAPreviewBetweenCharacters() {
        String preview = values.preview("😀".repeat(200).getBytes(UTF_8));

        assertThat(preview).isEqualTo("😀".repeat(120));
    }

    @Test
    void masksTextAsTheBody() {
        ShownValues masking = new ShownValues((name, value) -> value.contains("secret") ? "******" : value);
        byte[] body = "a secret".getBytes(UTF_8);

        assertThat(masking.body(body, body.length))
                .containsEntry("text", "******")
                .containsEntry("masked", true);
        assertThat(masking.preview(body)).isEqualTo("******");
        assertThat(masking.header("h", "secret")).isEqualTo("******");
    }
}
