package io.easykit.cache.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ThreadSchedulerTests {

    /** As when there is no memory even for the line that reports it. */
    @Test
    void repeatsATaskThatThrows() throws InterruptedException {
        ThreadScheduler scheduler = new ThreadScheduler("throwing");
        CountDownLatch runs = new CountDownLatch(3);
        try {
            scheduler.repeat(
                    () -> {
                        runs.countDown();
                        throw new OutOfMemoryError("of the test");
                    },
                    Duration.ofMillis(1).toNanos());

            assertThat(runs.await(30, TimeUnit.SECONDS)).isTrue();
        } finally {
            scheduler.stopNow();
        }
    }
}
