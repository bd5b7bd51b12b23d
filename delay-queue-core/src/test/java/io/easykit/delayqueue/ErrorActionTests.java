package io.easykit.delayqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.support.DurationText;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class ErrorActionTests {

    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05.5Z");
    private static final Duration HOUR = Duration.ofHours(1);

    @ParameterizedTest
    @ValueSource(strings = {"PT-0.001S", "P3650DT1S"})
    void refusesWaitsThatAreNotPossible(Duration wait) {
        assertThatThrownBy(() -> ErrorAction.retryAfter(wait))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("A retry after " + DurationText.of(wait) + " is not possible: give zero to 3650d.");
        assertThatThrownBy(() -> ErrorAction.retryAfterHeader("5", NOW, wait))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is not possible");
    }

    @Test
    void takesTheShortestAndTheLongestWait() {
        assertThat(ErrorAction.retryAfter(Duration.ZERO)).isEqualTo(new ErrorAction.RetryAfter(Duration.ZERO, false));
        assertThat(ErrorAction.retryAfter(RetryPolicy.LONGEST))
                .isEqualTo(new ErrorAction.RetryAfter(RetryPolicy.LONGEST, false));
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "' 120 ', 120",
        "0000000000000000120, 120",
        "3600, 3600",
        "3601, 3600",
        "99999999999999999999999999, 3600",
    })
    void readsSecondsAndCutsLongWaits(String header, long seconds) {
        assertThat(ErrorAction.retryAfterHeader(header, NOW, HOUR))
                .isEqualTo(new ErrorAction.RetryAfter(Duration.ofSeconds(seconds), true));
    }

    @ParameterizedTest
    @CsvSource({
        "'Wed, 21 Oct 2015 07:28:00 GMT', PT0S",
        "'Fri, 2 Jan 2026 03:04:06 GMT', PT0.5S",
        "'Fri, 02 Jan 2026 03:34:05 GMT', PT29M59.5S",
        "'Sun, 11 Jan 2026 03:04:05 GMT', PT1H",
    })
    void readsADate(String header, Duration wait) {
        assertThat(ErrorAction.retryAfterHeader(header, NOW, HOUR)).isEqualTo(new ErrorAction.RetryAfter(wait, true));
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", "-1", "1.5", "soon", "٣", "Wed, 99 Oct 2015 07:28:00 GMT"})
    void leavesTheDecisionToThePolicyWithoutAHeaderThatItCanRead(@Nullable String header) {
        assertThat(ErrorAction.retryAfterHeader(header, NOW, HOUR)).isEqualTo(ErrorAction.byDefault());
    }
}
