package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ServerClockTests {

    private final ServerClock clock = new ServerClock();

    /** The server may have cut off 999 µs, and the time since the request is just below 2 ms. */
    @Test
    void isNeverBehindAServerThatCutsOffFractions() {
        clock.told(1_000, System.nanoTime() - 1_999_999);

        assertThat(clock.millis()).isGreaterThanOrEqualTo(1_003);
    }

    @Test
    void isAheadByTwoMillisecondsAtMost() {
        long asked = System.nanoTime();
        clock.told(1_000, asked);
        long told = clock.millis();
        long passed = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - asked);

        assertThat(told).isBetween(1_000L, 1_000 + passed + 2);
    }

    @Test
    void isOldUntilItIsToldAndAMinuteLater() {
        assertThat(clock.isKnown()).isFalse();
        assertThat(clock.isOld()).isTrue();

        clock.told(1_000, System.nanoTime());

        assertThat(clock.isKnown()).isTrue();
        assertThat(clock.isOld()).isFalse();

        clock.told(1_000, System.nanoTime() - Duration.ofSeconds(61).toNanos());

        assertThat(clock.isOld()).isTrue();
    }
}
