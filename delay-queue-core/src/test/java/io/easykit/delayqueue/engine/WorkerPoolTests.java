package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.time.LoopExecutor;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class WorkerPoolTests {

    @Test
    void interruptsAtTheEndWhatStillRuns() throws InterruptedException {
        Workers workers = WorkerPool.FOR_EACH.create(TestQueue.listener().build(), LoopExecutor.THREADS);
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

    @Test
    void aRunGoesToAnIdleThreadIfNoOtherCanBeMade() {
        Workers workers = few(1);

        CompletableFuture<String> first = run(workers);
        assertThat(first.join()).isEqualTo("ran");
        CompletableFuture<String> second = run(workers);
        assertThat(second.join()).isEqualTo("ran");
        workers.stop();
    }

    @Test
    void aRunWaitsForABusyThreadIfNoOtherCanBeMade() {
        Workers workers = few(1);
        CountDownLatch end = new CountDownLatch(1);
        CompletableFuture<String> first = new CompletableFuture<>();
        workers.execute(
                () -> {
                    try {
                        end.await();
                        first.complete("ran");
                    } catch (InterruptedException e) {
                        first.completeExceptionally(e);
                    }
                },
                first::completeExceptionally);
        CompletableFuture<String> second = run(workers);
        assertThat(second).isNotDone();
        end.countDown();

        assertThat(first.join()).isEqualTo("ran");
        assertThat(second.join()).isEqualTo("ran");
        workers.stop();
    }

    /** Otherwise its lease would be renewed without a run. */
    @Test
    void aRunIsRefusedIfThereIsNoThread() {
        Workers workers = few(0);

        assertThat(run(workers).join()).isEqualTo("refused: unable to create native thread");
        assertThat(run(workers).join()).isEqualTo("refused: unable to create native thread");
        workers.stop();
        assertThat(run(workers).join()).startsWith("refused: ");
    }

    /** The system starts no more threads than these. */
    private static Workers few(int threads) {
        AtomicInteger left = new AtomicInteger(threads);
        return new WorkerPool(4, task -> {
            if (left.getAndDecrement() <= 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return new Thread(task);
        });
    }

    private static CompletableFuture<String> run(Workers workers) {
        CompletableFuture<String> end = new CompletableFuture<>();
        workers.execute(() -> end.complete("ran"), refusal -> end.complete("refused: " + refusal.getMessage()));
        return end;
    }
}
