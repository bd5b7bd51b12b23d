package io.easykit.boot;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LexicalJsonTests {

    private static String mask(String name, String value) {
        return name.equals("password") || value.equals("4111") ? "******" : value;
    }

    @Test
    void keepsNumbersOrderAndEqualFieldsAsTheyWere() {
        LexicalJson.Result result = LexicalJson.format(
                "{\"id\":9007199254740993,\"p\":1.10,\"e\":1E+2,\"a\":1,\"a\":2,\"n\":null}", false, true, null);

        assertThat(result.text())
                .isEqualTo(
                        """
                        {
                          "id": 9007199254740993,
                          "p": 1.10,
                          "e": 1E+2,
                          "a": 1,
                          "a": 2,
                          "n": null
                        }""");
        assertThat(result.masked()).isFalse();
    }

    @Test
    void keepsEscapesAndCharactersOfFourBytes() {
        String text = "[\"\\u003cscript>\\\"\\n\", \"😀\", \"سلام\"]";

        assertThat(LexicalJson.format(text, false, false, null).text()).isEqualTo(text);
    }

    @Test
    void indentsNestedAndEmptyContainers() {
        assertThat(LexicalJson.format(" [ [ ] , { } , { \"a\" : [ true ] } ] ", false, true, null)
                        .text())
                .isEqualTo(
                        """
                        [
                          [],
                          {},
                          {
                            "a": [
                              true
                            ]
                          }
                        ]""");
    }

    @Test
    void indentsDeepContainersNoFurther() {
        String text = "[".repeat(199) + "1,".repeat(100_000) + "1" + "]".repeat(199);

        assertThat(LexicalJson.format(text, false, true, null).text())
                .hasSizeLessThan(30 * text.length())
                .contains("\n" + "  ".repeat(20) + "1,\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "[1,]",
                "{\"a\"}",
                "{\"a\":}",
                "{a:1}",
                "01",
                "1.",
                "nul",
                "[1]]",
                "\"a",
                "\"\n\"",
                "plain text",
                "<script>",
                "-",
                "{\"a\":1,}",
                "'a'"
            })
    void isNotJson(String text) {
        assertThat(LexicalJson.format(text, false, true, null)).isNull();
    }

    @Test
    void refusesDepthThatWouldOverflowTheStack() {
        assertThat(LexicalJson.format("[".repeat(100_000), true, true, null)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"a\":1,\"b\":[tru", "{\"a\":\"x", "{\"a", "[1, 2", "{\"a\":{\"b\":"})
    void showsTheBeginningOfTextThatIsCut(String text) {
        assertThat(LexicalJson.format(text, true, false, null)).isNotNull();
        assertThat(LexicalJson.format(text, false, false, null)).isNull();
    }

    @Test
    void masksValuesByFieldAndByContent() {
        LexicalJson.Result result = LexicalJson.format(
                "{\"user\":\"ada\",\"password\":\"s\\\"ecret\",\"deep\":{\"password\":[1,{\"x\":2}]},\"cards\":[4111,5]}",
                false,
                false,
                LexicalJsonTests::mask);

        assertThat(result.text())
                .isEqualTo(
                        "{\"user\": \"ada\", \"password\": \"******\", \"deep\": {\"password\": \"******\"}, \"cards\": [\"******\", 5]}"
                                .replace(", ", ", "));
        assertThat(result.masked()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"password\":\"secret",
                "{\"password\":{\"x\":\"secret",
                "{\"password\":[\"secret\"",
                "{\"pass\\u0077ord\":\"secret"
            })
    void masksAValueThatIsCut(String text) {
        assertThat(LexicalJson.format(text, true, false, LexicalJsonTests::mask).text())
                .doesNotContain("secret")
                .endsWith(LexicalJson.MASKED);
    }
}
