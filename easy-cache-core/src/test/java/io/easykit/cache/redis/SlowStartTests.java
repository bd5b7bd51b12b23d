package io.easykit.cache.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class SlowStartTests {

    private static final Duration TIMEOUT = Duration.ofMillis(250);

    private final SlowStart start = new SlowStart();

    @Test
    void isOffUnlessItIsAllowed() {
        assertThat(start.limit(TIMEOUT)).isEqualTo(TIMEOUT);
    }

    @Test
    void lastsUntilTheFirstReply() {
        start.allow(Duration.ofHours(1));
        assertThat(start.limit(TIMEOUT)).isBetween(Duration.ofMinutes(30), Duration.ofHours(1));
        Duration second = start.limit(TIMEOUT);
        assertThat(start.limit(TIMEOUT)).as("counts from the first call").isLessThan(second);
        start.replied();
        assertThat(start.limit(TIMEOUT)).isEqualTo(TIMEOUT);
    }

    @Test
    void endsWithoutAReply() {
        start.allow(Duration.ZERO);
        assertThat(start.limit(TIMEOUT)).isEqualTo(TIMEOUT);
    }

    @Test
    void shortensNoTimeout() {
        start.allow(Duration.ofMillis(100));
        assertThat(start.limit(TIMEOUT)).isEqualTo(TIMEOUT);
    }
}
