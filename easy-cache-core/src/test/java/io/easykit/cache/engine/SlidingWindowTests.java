package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CircuitBreakerOptions;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SlidingWindowTests {

    private final ManualClock clock = new ManualClock();
    private final SlidingWindow calls = new SlidingWindow(
            new CircuitBreakerOptions(Duration.ofSeconds(10), 0.5, 4, Duration.ofSeconds(1), 3), clock);

    @Test
    void saysNothingBelowTheMinimum() {
        assertThat(calls.failed()).isFalse();
        assertThat(calls.failed()).isFalse();
        assertThat(calls.failed()).isFalse();
        assertThat(calls.failed()).isTrue();
    }

    @Test
    void saysNothingBelowTheRate() {
        succeed(4);
        assertThat(calls.failed()).isFalse();
        assertThat(calls.failed()).isFalse();
        assertThat(calls.failed()).isFalse();
        assertThat(calls.failed()).isTrue();
    }

    @Test
    void forgetsWhatIsOlderThanTheWindow() {
        calls.failed();
        calls.failed();
        calls.failed();
        clock.advance(Duration.ofSeconds(10));
        assertThat(calls.failed()).isFalse();
        succeed(100);
        clock.advance(Duration.ofDays(1));
        assertThat(calls.failed()).isFalse();
        assertThat(calls.failed()).isFalse();
        assertThat(calls.failed()).isFalse();
        assertThat(calls.failed()).isTrue();
    }

    @Test
    void remembersWhatIsYoungerThanTheWindow() {
        calls.failed();
        clock.advance(Duration.ofSeconds(3));
        calls.failed();
        clock.advance(Duration.ofSeconds(3));
        calls.failed();
        clock.advance(Duration.ofSeconds(3));
        assertThat(calls.failed()).isTrue();
    }

    @Test
    void beginsAnewWhenCleared() {
        calls.failed();
        calls.failed();
        calls.failed();
        calls.clear();
        assertThat(calls.failed()).isFalse();
    }

    private void succeed(int times) {
        for (int i = 0; i < times; i++) {
            calls.succeeded();
        }
    }
}
