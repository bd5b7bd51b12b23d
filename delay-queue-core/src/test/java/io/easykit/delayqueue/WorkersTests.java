package io.easykit.delayqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class WorkersTests {

    private final Workers workers = Workers.pool(TestQueue.listener().build());
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);
    private final CompletableFuture<String> end = new CompletableFuture<>();

    private void run() {
        begun.countDown();
        try {
            release.await();
            end.complete("released");
        } catch (InterruptedException e) {
            end.complete("interrupted");
        }
    }

    @Test
    void waitsForWhatRuns() throws InterruptedException {
        workers.execute(this::run);
        begun.await();
        Thread stop = new Thread(() -> workers.stop(Duration.ofMinutes(1)));
        stop.start();
        await().until(() -> stop.getState() == Thread.State.TIMED_WAITING);

        release.countDown();
        stop.join();

        assertThat(end).isCompletedWithValue("released");
    }

    @Test
    void interruptsWhatRunsTooLong() throws InterruptedException {
        workers.execute(this::run);
        begun.await();

        workers.stop(Duration.ofMillis(1));

        assertThat(end.join()).isEqualTo("interrupted");
    }
}
