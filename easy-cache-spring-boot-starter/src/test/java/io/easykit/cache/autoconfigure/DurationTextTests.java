package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheOptions;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.convert.DurationStyle;

/** Durations as they are shown can be copied into a properties file. */
class DurationTextTests {

    @ParameterizedTest
    @CsvSource({
        "PT0S, 0s",
        "PT0.010S, 10ms",
        "PT1.5S, 1500ms",
        "PT2.5S, 2500ms",
        "PT30S, 30s",
        "PT90S, 90s",
        "PT10M, 10m",
        "PT90M, 90m",
        "PT24H, 1d",
        "PT36H, 36h",
        "P7D, 7d",
        "P3650D, 3650d",
        "PT-1.5S, -1500ms",
        "PT0.0005S, PT0.0005S",
        "PT999999999999.5S, PT277777777H46M39.5S"
    })
    void areReadAsTheSameDuration(Duration duration, String text) {
        assertThat(CacheOptions.text(duration)).isEqualTo(text);
        assertThat(DurationStyle.detectAndParse(text)).isEqualTo(duration);
    }
}
