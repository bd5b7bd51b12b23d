package io.easykit.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.test.LogLines.Line;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class LogLinesTests {

    private static final Pattern QUOTATION = Pattern.compile("`((?:WARN|ERROR|INFO) [^`a-z][^`]+)`");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "log.warn(\"Late: {}\", a(\"x\"));",
                "log\n.warn(\n\"La\"\n + \"te: {}\");",
                "lines.warn(log, topic.of(\"\"), \"Late: {}\", \"x\");",
                "String LATE =\n \"Late: {}\"; warn(LATE, x(y));",
                "warn(\"Late: {}\", \"x\");",
                "log.warn(\"Late: \" + x.y(z) + \"\");"
            })
    void findsTheText(String code) {
        assertThat(LogLines.lines("A", code)).contains(new Line("A", "WARN", "Late: {}"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "log.warn(text, x);",
                "log.warn(\"{} {}\", x, y);",
                "found.forEach(log::warn);",
                "log.atWarn().log(x);"
            })
    void findsACallWithoutAText(String code) {
        assertThat(LogLines.lines("A", code)).containsExactly(new Line("A", "WARN", ""));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "failure.error()",
                "Mono.error(failure)",
                "ids.forEach(this::warn);",
                "warn(failure);",
                "static void warn(String text) {"
            })
    void findsNoCall(String code) {
        assertThat(LogLines.lines("A", code)).isEmpty();
    }

    @Test
    void knowsAllClassesThatAreGivenTheirTexts() {
        assertThat(LogLines.written(module -> true))
                .filteredOn(line -> line.isProblem() && line.text().isEmpty())
                .extracting(Line::source)
                .containsExactlyInAnyOrderElementsOf(LogLines.GIVEN_THEIR_TEXTS);
    }

    @Test
    void knowsAllNamesOfLoggers() {
        assertThat(LogLines.code()).doesNotContainPattern("\\bLogger (?!log\\b)\\w+ ?[=;,)]");
    }

    static List<Path> pages() {
        return LogLines.pages();
    }

    /** {@code 'default'} is the id of the only Redis. */
    @ParameterizedTest
    @MethodSource("pages")
    void aQuotationWithItsLevelIsWritten(Path page) {
        List<Line> written = LogLines.written(module -> true);
        assertThat(QUOTATION
                        .matcher(LogLines.read(page).replace("'default'", "…"))
                        .results())
                .extracting(found -> found.group(1))
                .allMatch(quotation -> written.stream().anyMatch(line -> line.begins(quotation)));
    }
}
