package io.easykit.delayqueue.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FieldsTests {

    @ParameterizedTest
    @CsvSource({"30s, PT30S", "' 5m ', PT5M", "1500ms, PT1.5S", "PT2H, PT2H", "0s, PT0S", "0, PT0S"})
    void readsADuration(String text, Duration duration) {
        assertThat(new Fields().with("delay", text).duration("delay")).isEqualTo(duration);
    }

    @Test
    void hasNoDurationThatIsNotGiven() {
        assertThat(new Fields().with("delay", " ").duration("delay")).isNull();
    }

    /** A number would be milliseconds to Spring Boot, and seconds to most people. */
    @ParameterizedTest
    @ValueSource(strings = {"30", " 30 ", "-30", "+30", "soon", "30 parsecs"})
    void refusesADurationWithoutAUnit(String text) {
        assertThatThrownBy(() -> new Fields().with("delay", text).duration("delay"))
                .isInstanceOfSatisfying(EndpointRefusal.class, refusal -> {
                    assertThat(refusal.problem().status()).isEqualTo(400);
                    assertThat(refusal.problem().action()).contains("with its unit, such as 30s");
                });
    }
}
