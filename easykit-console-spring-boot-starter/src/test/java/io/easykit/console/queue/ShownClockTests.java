package io.easykit.console.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ShownClockTests {

    private long nanos = Long.MAX_VALUE - 1;
    private final ShownClock clock = new ShownClock(() -> nanos);

    /** Not by the time of day of this node, which may step. */
    @Test
    void movesOnFromTheLatestReadingByAClockThatOnlyMovesForward() {
        assertThat(clock.millis()).isNull();
        clock.set(Instant.EPOCH);
        assertThat(clock.millis()).as("no reading").isNull();

        clock.set(Instant.ofEpochMilli(1_000));
        assertThat(clock.millis()).isEqualTo(1_000);
        nanos += TimeUnit.MILLISECONDS.toNanos(250);
        assertThat(clock.millis()).isEqualTo(1_250);

        clock.set(Instant.ofEpochMilli(900));
        assertThat(clock.millis()).isEqualTo(900);
    }
}
