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
        clock.update(1_000, System.nanoTime() - 1_999_999);

        assertThat(clock.millis()).isGreaterThanOrEqualTo(1_003);
    }

    @Test
    void isAheadByTwoMillisecondsAtMost() {
        long asked = System.nanoTime();
        clock.update(1_000, asked);
        long told = clock.millis();
        long passed = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - asked);

        assertThat(told).isBetween(1_000L, 1_000 + passed + 2);
    }

    @Test
    void isOldUntilItIsUpdatedAndAMinuteLater() {
        assertThat(clock.until(0)).isNull();
        assertThat(clock.isOld()).isTrue();

        clock.update(1_000, System.nanoTime());

        assertThat(clock.until(0)).isNotNull();
        assertThat(clock.isOld()).isFalse();

        clock.update(1_000, System.nanoTime() - Duration.ofSeconds(61).toNanos());

        assertThat(clock.isOld()).isTrue();
    }

    /** A reader may have checked just before that the time is known. */
    @Test
    void isFarAheadWhileItIsUnknown() {
        clock.update(1_000, System.nanoTime());
        clock.forget();

        assertThat(clock.millis())
                .isGreaterThan(
                        System.currentTimeMillis() + Duration.ofDays(36_500).toMillis());
    }

    /** A reply of the former server may come late. */
    @Test
    void ignoresTheTimeOfTheFormerServer() {
        long asked = System.nanoTime();
        clock.forget();

        clock.update(1_000, asked);

        assertThat(clock.until(0)).isNull();

        clock.update(1_000, System.nanoTime());

        assertThat(clock.until(0)).isNotNull();
    }
}
