package io.easykit.delayqueue.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DurationTextTests {

    @ParameterizedTest
    @CsvSource({
        "PT0S, 0s",
        "PT0.001S, 1ms",
        "PT1.5S, 1500ms",
        "PT30S, 30s",
        "PT90S, 90s",
        "PT90M, 90m",
        "PT36H, 36h",
        "P3650D, 3650d",
        "PT-1S, -1s",
        "PT-1.5S, -1500ms",
        "PT0.0005S, PT0.0005S",
        "PT999999999999.5S, PT277777777H46M39.5S"
    })
    void isThatOfAPropertiesFile(Duration duration, String text) {
        assertThat(DurationText.of(duration)).isEqualTo(text);
    }
}
