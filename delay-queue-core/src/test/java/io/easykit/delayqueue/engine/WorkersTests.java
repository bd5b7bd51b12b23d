package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class WorkersTests {

    @Test
    void interruptsAtTheEndWhatStillRuns() throws InterruptedException {
        Workers workers = Workers.pool(TestQueue.listener().build());
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<String> end = new CompletableFuture<>();
        workers.execute(
                () -> {
                    begun.countDown();
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        end.complete("interrupted");
                    }
                },
                end::completeExceptionally);
        begun.await();

        workers.stop();

        assertThat(end.join()).isEqualTo("interrupted");
    }
}
