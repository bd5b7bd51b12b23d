package io.easykit.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationTextsTests {

    @ParameterizedTest
    @CsvSource({"1500ms, PT1.5S", "' 10m ', PT10M", "1h30m, PT1H30M", "-1s, PT-1S", "PT2H, PT2H", "0, PT0S", "0s, PT0S"
    })
    void readsDurationsWithAUnit(String text, Duration duration) {
        assertThat(DurationTexts.parse(text)).isEqualTo(duration);
    }

    @ParameterizedTest
    @ValueSource(strings = {"30", " 30 ", "+30", "-30"})
    void refusesNumbersWithoutAUnit(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DurationTexts.parse(text))
                .withMessage("it has no unit");
    }

    /** They can be copied into a properties file. */
    @ParameterizedTest
    @CsvSource({
        "PT0S, 0s",
        "PT0.010S, 10ms",
        "PT1.5S, 1500ms",
        "PT30S, 30s",
        "PT90S, 90s",
        "PT10M, 10m",
        "PT90M, 90m",
        "PT24H, 1d",
        "PT36H, 36h",
        "P3650D, 3650d",
        "PT-1.5S, -1500ms",
        "PT0.0005S, PT0.0005S",
        "PT999999999999.5S, PT277777777H46M39.5S"
    })
    void writesWhatItReads(Duration duration, String text) {
        assertThat(DurationTexts.text(duration)).isEqualTo(text);
        assertThat(DurationTexts.parse(text)).isEqualTo(duration);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "soon", "30 parsecs", "1.5s"})
    void refusesWhatIsNoDuration(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> DurationTexts.parse(text));
    }
}
