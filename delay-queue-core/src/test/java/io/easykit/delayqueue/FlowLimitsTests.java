package io.easykit.delayqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.FlowLimits.Rate;
import io.easykit.delayqueue.store.FlowShare;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FlowLimitsTests {

    private static final Duration SECOND = Duration.ofSeconds(1);

    @ParameterizedTest
    @CsvSource({
        "50/s, 50, 1, 5",
        "' 600 / min ', 600, 60, 1",
        "10/h, 10, 3600, 1",
        "7/m, 7, 60, 1",
        "10000/s, 10000, 1, 1000"
    })
    void readsARate(String text, int count, int seconds, int burst) {
        assertThat(Rate.parse(text)).isEqualTo(new Rate(count, Duration.ofSeconds(seconds), burst));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "50", "/s", "50/d", "-1/s", "0/s", "1.5/s", "10001/s", "9999999999/h"})
    void refusesWhatIsNoRate(String text) {
        assertThatThrownBy(() -> Rate.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(": give ");
    }

    @Test
    void refusesImpossibleLimits() {
        Rate hourly = Rate.parse("1/h");

        assertThatThrownBy(() -> hourly.withBurst(0)).hasMessageContaining("burst is 0: give 1 to 100000");
        assertThatThrownBy(() -> hourly.withBurst(10_000)).hasMessageContaining("more than a year to fill");
        assertThatThrownBy(() -> new Rate(1, Duration.ofDays(2), 1))
                .hasMessageContaining("in a second, a minute or an hour");
        assertThatThrownBy(() -> Rate.of(1, ChronoUnit.FOREVER.getDuration()))
                .hasMessageContaining("in a second, a minute or an hour");
        assertThatThrownBy(() -> FlowLimits.maxInFlight(0)).hasMessageContaining("maxInFlight is 0: give 1 to 1000000");
    }

    /** It may have grown. */
    @Test
    void leavesAPlaceToEachShardOfATopicThatHasMoreShardsThanPlaces() {
        assertThat(FlowShare.of(FlowLimits.maxInFlight(3), 2, 4).places()).isEqualTo(1);
        assertThat(FlowShare.of(FlowLimits.maxInFlight(3), 3, 4).places()).isEqualTo(1);
    }

    @Test
    void isShownAsItIsWritten() {
        assertThat(new FlowLimits(Rate.parse("50/s"), 20)).hasToString("50/s with a burst of 5, 20 in flight");
        assertThat(FlowLimits.of(Rate.parse("600/min"))).hasToString("600/min with a burst of 1");
        assertThat(FlowLimits.maxInFlight(3)).hasToString("3 in flight");
        assertThat(FlowLimits.of(new Rate(1, Duration.ofMillis(10), 1))).hasToString("1/10ms with a burst of 1");
        assertThat(FlowLimits.NONE).hasToString("no limits");
    }

    @Test
    void theSharesOfAllShardsAreTheLimitsButForTheSmallestBurst() {
        FlowLimits limits = new FlowLimits(new Rate(50, SECOND, 10), 7);
        List<FlowShare> shares =
                IntStream.range(0, 4).mapToObj(i -> FlowShare.of(limits, i, 4)).toList();

        assertThat(shares).extracting(FlowShare::stepMicros).containsOnly(80_000L);
        assertThat(shares).extracting(FlowShare::burst).containsExactly(3, 3, 2, 2);
        assertThat(shares).extracting(FlowShare::places).containsExactly(2, 2, 2, 1);
        assertThat(FlowShare.of(FlowLimits.of(new Rate(3, SECOND, 1)), 0, 1).stepMicros())
                .as("never faster")
                .isEqualTo(333_334);
        assertThat(FlowShare.of(FlowLimits.of(new Rate(50, SECOND, 1)), 3, 4).burst())
                .isEqualTo(1);
        assertThat(FlowShare.of(FlowLimits.NONE, 0, 1)).isEqualTo(FlowShare.NONE);
    }
}
