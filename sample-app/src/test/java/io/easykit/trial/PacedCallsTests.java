package io.easykit.trial;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PacedCallsTests {

    private static final Duration PAUSE = Duration.ofMillis(1);

    @Test
    void repeatsEachCallUntilItIsClosed() {
        AtomicInteger first = new AtomicInteger();
        AtomicInteger second = new AtomicInteger();
        try (PacedCalls calls = new PacedCalls()) {
            calls.repeat("first", PAUSE, first::incrementAndGet);
            calls.repeat("second", PAUSE, second::incrementAndGet);

            await().until(() -> first.get() > 2 && second.get() > 2);
        }
    }

    @Test
    void failsAtTheEndIfACallEndedByItself() {
        PacedCalls calls = new PacedCalls();
        CountDownLatch failed = new CountDownLatch(1);
        calls.repeat("failing", PAUSE, () -> {
            failed.countDown();
            throw new IllegalArgumentException("a fault of the trial itself");
        });
        await().until(() -> failed.getCount() == 0);

        assertThatThrownBy(calls::close)
                .isInstanceOf(IllegalStateException.class)
                .hasRootCauseMessage("a fault of the trial itself");
    }
}
