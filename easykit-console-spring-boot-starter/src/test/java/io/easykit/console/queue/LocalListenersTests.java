package io.easykit.console.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.RetryPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.convert.DurationStyle;

class LocalListenersTests {

    @ParameterizedTest
    @CsvSource({"PT1.5S, 1500ms", "PT90S, 90s", "PT30M, 30m", "PT36H, 36h", "P7D, 7d"})
    void showsADurationAsAPropertiesFileTakesIt(Duration duration, String text) {
        ListenerEndpoint endpoint = ListenerEndpoint.builder("reminders", "reminder", String.class)
                .deadLetterRetention(duration)
                .build();
        LocalListeners listeners = new LocalListeners(() -> List.of(endpoint), null, (topic, setting) -> null);

        List<Map<String, @Nullable Object>> shown = listeners.settings("reminder");

        assertThat(shown)
                .filteredOn(row -> "dead-letter-retention".equals(row.get("name")))
                .extracting(row -> row.get("value"))
                .containsExactly(text);
        assertThat(DurationStyle.detectAndParse(text)).isEqualTo(duration);
    }

    @Test
    void showsABackOff() {
        assertThat(LocalListeners.backOff(RetryPolicy.fixed(5, Duration.ofMillis(1500))))
                .isEqualTo("1500ms");
        assertThat(LocalListeners.backOff(RetryPolicy.exponential(5, Duration.ofSeconds(1), Duration.ofMinutes(1))))
                .isEqualTo("1s × 2 up to 1m");
    }
}
