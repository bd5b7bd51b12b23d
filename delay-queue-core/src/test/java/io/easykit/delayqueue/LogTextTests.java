package io.easykit.delayqueue;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.support.LogText;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LogTextTests {

    @Test
    void leavesVisibleTextAsItIs() {
        for (String text : List.of("", "order-1", "Größe", "订单 7", "a\uD83D\uDE00b", "x=\"1\"")) {
            assertThat(LogText.of(text)).isEqualTo(text);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "000A, \\n",
        "000D, \\r",
        "0009, \\t",
        "0000, \\u0000",
        "001B, \\u001B",
        "007F, \\u007F",
        "0085, \\u0085",
        "009B, \\u009B",
        "200B, \\u200B",
        "202E, \\u202E",
        "2028, \\u2028",
        "2029, \\u2029",
        "2066, \\u2066",
        "D800, \\uD800",
        "DC00, \\uDC00",
        "FEFF, \\uFEFF",
        "E0001, \\U0E0001"
    })
    void escapesWhatIsNotSeenOrForgesALine(String codePoint, String escaped) {
        String text = new String(Character.toChars(Integer.parseInt(codePoint, 16)));

        assertThat(LogText.of("a" + text + "b")).isEqualTo("a" + escaped + "b");
    }

    @Test
    void cutsLongTextsAndLongLists() {
        assertThat(LogText.of("x".repeat(501))).hasSize(501).endsWith("…");
        assertThat(LogText.list(IntStream.range(0, 25).mapToObj(i -> "m" + i).toList()))
                .startsWith("[m0, m1,")
                .endsWith("m19 and 5 more]");
        assertThat(LogText.list(List.of("a\nb", "c"))).isEqualTo("[a\\nb, c]");
    }
}
