package io.easykit.boot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

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

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"password\":\"s3cret\"}\n{\"password\":\"s3cret\"}",
                "{\"password\":\"s3cret\",}",
                "\uFEFF{\"password\":\"s3cret\"}",
                " \t\n[{\"password\":\"s3cret\"}] x",
                "{\"password\":s3cret}"
            })
    void hidesWhatLooksLikeJsonAndIsNotOneDocument(String text) {
        ShownValues masking = maskingPasswords();
        byte[] body = text.getBytes(UTF_8);

        assertThat(masking.body(body, body.length))
                .containsEntry("masked", true)
                .containsEntry("kind", "text");
        assertThat(masking.body(body, body.length).get("text").toString())
                .startsWith("******")
                .doesNotContain("s3cret");
        assertThat(masking.preview(body)).startsWith("******").doesNotContain("s3cret");
        assertThat(values.body(body, body.length)).containsEntry("text", text);
    }

    @Test
    void hidesJsonThatIsTooDeepToBeMasked() {
        byte[] body = ("[".repeat(300) + "{\"password\":\"s3cret\"}" + "]".repeat(300)).getBytes(UTF_8);

        assertThat(maskingPasswords().body(body, body.length).get("text").toString())
                .doesNotContain("s3cret");
    }

    @Test
    void masksBinaryBodiesAsTheBody() {
        ShownValues masking = new ShownValues((name, value) -> name.equals("body") ? "******" : value);
        byte[] body = {0, (byte) 0xff, 16};

        assertThat(masking.body(body, 3)).containsEntry("text", "******").containsEntry("masked", true);
        assertThat(masking.preview(body)).isEqualTo("******");
    }

    /** A payload that is a text is written as a JSON string. */
    @ParameterizedTest
    @ValueSource(strings = {"\"s3cret\"", "[\"s3cret\"]", "[{\"a\":\"s3cret\"}]", " 4711", "true"})
    void masksJsonThatIsNoObjectAsTheBody(String json) {
        ShownValues masking = new ShownValues((name, value) -> name.equals("body") ? "******" : value);
        byte[] body = json.getBytes(UTF_8);

        assertThat(masking.body(body, body.length))
                .containsEntry("kind", "json")
                .containsEntry("text", LexicalJson.MASKED)
                .containsEntry("masked", true);
        assertThat(masking.preview(body)).isEqualTo(LexicalJson.MASKED);
    }

    @Test
    void passesATextAndTheElementsOfAnArrayAsTheBody() {
        ShownValues masking =
                new ShownValues((name, value) -> name.equals("body") && value.equals("s3cret") ? "******" : value);

        assertThat(masking.preview("[1, \"s3cret\", {\"a\": \"s3cret\"}]".getBytes(UTF_8)))
                .isEqualTo("[1, \"******\", {\"a\": \"s3cret\"}]");
        assertThat(masking.preview("\"s3cret\"".getBytes(UTF_8))).isEqualTo(LexicalJson.MASKED);
        assertThat(masking.preview("{\"a\": \"s3cret\"}".getBytes(UTF_8))).isEqualTo("{\"a\": \"s3cret\"}");
    }

    /** Otherwise a function that masks other bodies would hide all fields. */
    @Test
    void doesNotPassAnObjectAsTheBody() {
        ShownValues masking = new ShownValues((name, value) -> name.equals("body") ? "******" : value);
        byte[] body = "{\"id\":7}".getBytes(UTF_8);

        assertThat(masking.body(body, body.length)).containsEntry("masked", false);
    }

    @Test
    void masksWithTheFunctionsOfTheApplication() {
        ShownValues masking =
                ShownValues.maskedBy(List.of(data -> data.getKey().equals("token") ? data.withValue("-") : data));

        assertThat(masking.header("token", "t0ken")).isEqualTo("-");
        assertThat(masking.header("other", "t0ken")).isEqualTo("t0ken");
        assertThat(ShownValues.maskedBy(List.of()).header("token", "t0ken")).isEqualTo("t0ken");
    }

    /** Bodies and headers have no property source, which such a function may rely on. */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void masksIfAFunctionOfTheApplicationFailsAndWarnsOnce(CapturedOutput log) {
        ShownValues masking = ShownValues.maskedBy(
                List.of(data -> data.getPropertySource().getName().equals("vault") ? data.withSanitizedValue() : data));
        byte[] json = "{\"order\":\"s3cret\",\"count\":7}".getBytes(UTF_8);
        byte[] text = "a s3cret".getBytes(UTF_8);

        assertThat(masking.header("token", "s3cret")).isEqualTo("******");
        assertThat(masking.body(json, json.length))
                .containsEntry("kind", "json")
                .containsEntry("text", "\"******\"")
                .containsEntry("masked", true);
        assertThat(masking.preview(json)).isEqualTo("\"******\"");
        assertThat(masking.body(text, text.length)).containsEntry("text", "******");
        assertThat(log.toString().split("SanitizingFunction", -1)).hasSize(2);
        assertThat(log)
                .contains("with java.lang.NullPointerException at io.easykit.boot.ShownValuesTests")
                .doesNotContain("s3cret");
    }

    private static ShownValues maskingPasswords() {
        return new ShownValues((name, value) -> name.equals("password") ? "******" : value);
    }
}
